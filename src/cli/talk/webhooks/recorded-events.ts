/** Events that the payment processor has recorded, from a file as the processor exports them. */
import type { Runtime } from '../../machine/context.ts';
import { CliError } from '../../machine/errors.ts';
import { readInput } from '../../machine/read-input.ts';
import { isObject, type JsonObject } from '../../service/assignments.ts';

/** An event as the processor shows it. */
export interface RecordedEvent {
  id: string;
  type: string;
  /** The object that it is about; empty where the event names none. */
  objectId: string;
  /** RFC 3339; null where the event does not tell. */
  createdAt: string | null;
  payload: JsonObject;
}

/**
 * Reads one event, an array, a list of the processor's API, one event a line, an envelope of a cloud's event bus, or
 * what `webhooks list` and `show` print with `-o json`; in the order of the file. E_FILE when there are no events in it.
 */
export async function eventsInFile(runtime: Runtime, path: string): Promise<RecordedEvent[]> {
  const text = (await readInput(runtime, path)).replace(/^\uFEFF/, '');
  const name = path === '-' ? 'standard input' : path;
  const events = documentsIn(text, name).flatMap(eventsIn);
  if (events.length > 0) return events.map(recorded);
  throw new CliError('E_FILE', {
    message: `${name} holds no event of the payment processor.`,
    fix: 'Give one event with "object": "event", an array or a list of them, or one a line.',
    details: { path },
  });
}

/** The whole text as one JSON document, or each of its lines. */
function documentsIn(text: string, name: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch (whole) {
    const lines = text.split('\n');
    return lines.flatMap((line, index): unknown[] => {
      if (line.trim() === '') return [];
      try {
        return [JSON.parse(line)];
      } catch (cause) {
        // A file of one document names the mistake in it better than its first line would.
        const isLines = index > 0 && /^\s*[{[]/.test(line);
        const said = isLines ? `line ${index + 1} is not JSON` : `it is not JSON: ${reasonOf(whole)}`;
        throw new CliError('E_FILE', { message: `${name}: ${said}.`, details: { path: name } }, { cause });
      }
    });
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function eventsIn(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(eventsIn);
  if (!isObject(value)) return [];
  if (
    value.object === 'event' ||
    (typeof value.type === 'string' && isObject(value.data) && 'object' in value.data)
  )
    return typeof value.id === 'string' && typeof value.type === 'string' ? [value] : [];
  // A list of the API, an event bus's envelope, our own output.
  return ['data', 'detail', 'events', 'event', 'payload'].flatMap((field) => eventsIn(value[field]));
}

export function recorded(payload: JsonObject): RecordedEvent {
  const { id, type, created, data } = payload;
  const object = isObject(data) && isObject(data.object) ? data.object : {};
  return {
    id: String(id),
    type: String(type),
    objectId: typeof object.id === 'string' ? object.id : '',
    createdAt:
      typeof created === 'number' && Math.abs(created) < 8e12
        ? new Date(created * 1_000).toISOString()
        : null,
    payload,
  };
}

/** Deliveries and events for people. */
import { formatDuration } from '../../../lib/duration.ts';
import type { OutputFormat } from '../../machine/output.ts';
import { type Style, shortHash } from '../../terminal/style.ts';
import { type Effects, effectsText } from './effects.ts';
import type { Delivered } from './send-deliveries.ts';

/** An event with where it went. */
interface ShownEvent {
  id: string;
  type: string;
  objectId: string;
  createdAt: string | null;
  deliveries: {
    endpointId: string;
    state: 'waiting' | 'delivered' | 'failed';
    nextAt: string | null;
    attempts: { at: string; status: number | null; answer: string; durationMs: number }[];
  }[];
}

/** A line for each delivery, then the verdict. */
export const replayText =
  (
    {
      to,
      seed,
      deliveries,
      effects,
      expected,
    }: {
      to: string;
      seed?: number;
      deliveries: readonly Delivered[];
      effects: Effects;
      expected: number | null;
    },
    problem: string | undefined,
  ) =>
  (style: Style): string => {
    const width = Math.max(...deliveries.map(({ type }) => type.length));
    const source = effects.measured === 'chain' ? 'counted on chain' : 'as the answers say';
    const order = seed === undefined ? [] : [style.dim(`the same order again: --reorder shuffle:${seed}`)];
    const verdict = `${problem ? style.red('✗') : style.green('✓')} ${effectsText(effects, expected ?? undefined)}  ${style.dim(source)}`;
    return [
      style.dim(`to ${to}`),
      ...deliveries.map((one) => deliveryLine(one, width, style)),
      ...order,
      verdict,
      ...(problem ? [problem] : []),
    ].join('\n');
  };

function deliveryLine(delivered: Delivered, width: number, style: Style): string {
  const { number, type, eventId, status, message, durationMs, transactionHash } = delivered;
  const hash = transactionHash === null ? [] : [style.dim(`tx ${shortHash(transactionHash)}`)];
  return [
    String(number).padStart(3),
    statusText(status, style),
    formatDuration(durationMs).padStart(6),
    type.padEnd(width),
    style.dim(eventId),
    message,
    ...hash,
  ].join('  ');
}

/** An event that came in; `status` is null without an answer, `durationMs` where it was not passed on. */
export interface Heard {
  at: string;
  eventId: string;
  eventType: string;
  status: number | null;
  durationMs: number | null;
}

/** A line for people, or the JSON of a stream's entry. */
export function heardEntry(heard: Heard, { format, style }: { format: OutputFormat; style: Style }): string {
  if (format !== 'text') return JSON.stringify({ type: 'event', ...heard });
  const { at, eventId, eventType, status, durationMs } = heard;
  return [
    style.dim(at.slice(11, 19)),
    ...(durationMs === null ? [] : [statusText(status, style), formatDuration(durationMs).padStart(6)]),
    eventType,
    style.dim(eventId),
  ].join('  ');
}

/** Newest first, each with what became of it. */
export function eventsText(events: readonly ShownEvent[], style: Style): string {
  if (events.length === 0) return style.dim('no events');
  return events
    .map(({ id, type, objectId, createdAt, deliveries }) =>
      [
        style.dim(createdAt?.slice(0, 19).replace('T', ' ') ?? ''.padEnd(19)),
        type.padEnd(26),
        id,
        style.dim(objectId),
        deliveriesText(deliveries, style),
      ]
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** An event with each attempt to deliver it, and its body. */
export function eventText(event: ShownEvent & { payload: object }, style: Style): string {
  const attempts = event.deliveries.flatMap(({ endpointId, attempts, nextAt }) => [
    ...attempts.map(({ at, status, answer, durationMs }) =>
      [
        style.dim(at.slice(11, 19)),
        statusText(status, style),
        formatDuration(durationMs).padStart(6),
        style.dim(endpointId),
        oneLine(answer),
      ].join('  '),
    ),
    ...(nextAt === null ? [] : [style.yellow(`again at ${nextAt}, on the emulator's clock`)]),
  ]);
  return [
    `${style.bold(event.type)}  ${event.id}  ${style.dim(event.objectId)}`,
    ...attempts.map((line) => `  ${line}`),
    JSON.stringify(event.payload, null, 2),
  ].join('\n');
}

function deliveriesText(deliveries: ShownEvent['deliveries'], style: Style): string {
  return deliveries
    .map(({ state, attempts }) => {
      const last = attempts.at(-1);
      const said = `${state}${last ? ` ${last.status ?? 'without an answer'}` : ''}${attempts.length > 1 ? ` (${attempts.length} attempts)` : ''}`;
      return state === 'delivered'
        ? style.green(said)
        : state === 'failed'
          ? style.red(said)
          : style.yellow(said);
    })
    .join(', ');
}

function statusText(status: number | null, style: Style): string {
  const paint = status === null || status >= 500 ? style.red : status < 300 ? style.green : style.yellow;
  return paint(String(status ?? 'none').padEnd(4));
}

/** An answer may come from anywhere, so its control characters must not reach the terminal. */
const oneLine = (text: string) => text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, 200);

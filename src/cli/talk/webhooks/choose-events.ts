/** The events that a command means: of a file, or of the emulated processor's log. */
import { showProcessorEvent } from '../../../contract/control/processor.ts';
import type { CommandContext } from '../../machine/context.ts';
import { CliError, usageError } from '../../machine/errors.ts';
import { mustSucceed, refusalOf } from '../../service/control-reply.ts';
import { findProcessor, type Processor } from './processor.ts';
import { eventsInFile, type RecordedEvent, recorded } from './recorded-events.ts';

interface Choice {
  /** Ids, beginnings of ids, or `latest`; empty for all of a file. */
  events: readonly string[];
  from?: string | undefined;
  type?: string | undefined;
  processor?: Processor | undefined;
}

/** In the order in which they are named, or the file's. E_USAGE when an event is not named, E_REFUSED when it does not exist. */
export async function chosenEvents(context: CommandContext, choice: Choice): Promise<RecordedEvent[]> {
  const { from, type } = choice;
  const found =
    from === undefined
      ? await logged(context, choice)
      : inFile(await eventsInFile(context.runtime, from), choice);
  const chosen = found.filter((event) => type === undefined || event.type === type);
  if (chosen.length > 0) return chosen;
  throw new CliError('E_REFUSED', {
    message: `None of the events is a ${type}.`,
    fix: `They are ${[...new Set(found.map((event) => event.type))].join(', ')}.`,
  });
}

function inFile(all: RecordedEvent[], { events, from }: Choice): RecordedEvent[] {
  if (events.length === 0) return all;
  return events.map((name) => {
    const event =
      name === 'latest'
        ? all.at(-1)
        : (all.find(({ id }) => id === name) ?? all.find(({ id }) => id.startsWith(name)));
    if (event) return event;
    throw new CliError('E_REFUSED', {
      message: `${from} has no event ${name}.`,
      fix: `Its events are ${all
        .slice(0, 5)
        .map(({ id }) => id)
        .join(', ')}${all.length > 5 ? ', …' : ''}.`,
    });
  });
}

async function logged(context: CommandContext, { events, processor }: Choice): Promise<RecordedEvent[]> {
  if (events.length === 0)
    throw usageError(
      'No event is named.',
      'Give ids of `rewards webhooks list`, or `latest`, or a file with --from.',
    );
  const { call } = processor ?? (await findProcessor(context));
  return Promise.all(
    events.map(async (name) => {
      const reply = await call(showProcessorEvent, { path: { event: name } });
      const refusal = refusalOf(reply);
      if (refusal) throw new CliError(refusal.code, refusal);
      mustSucceed(reply);
      return recorded(reply.body.payload);
    }),
  );
}

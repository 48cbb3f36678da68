/** `rewards webhooks list|show`: the payment processor's events, from its log or from a file. */
import { listProcessorEvents, showProcessorEvent } from '../../../contract/control/processor.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { CliError } from '../../machine/errors.ts';
import { mustSucceed, refusalOf } from '../../service/control-reply.ts';
import { chosenEvents } from './choose-events.ts';
import { findProcessor } from './processor.ts';
import { eventsInFile, type RecordedEvent } from './recorded-events.ts';
import { eventsText, eventText } from './view.ts';

interface ListOptions {
  from?: string;
  type?: string;
  object?: string;
  limit: number;
}

export const listEvents: Handler<ListOptions> = async (context, options) => {
  const { from, type, object, limit } = options;
  if (from !== undefined) {
    const wanted = (event: RecordedEvent) =>
      (type === undefined || event.type === type) && (object === undefined || event.objectId === object);
    const all = (await eventsInFile(context.runtime, from)).filter(wanted);
    const events = all.slice(0, limit).map(({ payload: _, ...event }) => ({ ...event, deliveries: [] }));
    return { ok: true, data: { events }, text: (style) => eventsText(events, style) };
  }
  const { call } = await findProcessor(context);
  const reply = await call(listProcessorEvents, { query: { type, object, limit } });
  mustSucceed(reply);
  const { events } = reply.body;
  return { ok: true, data: { events }, text: (style) => eventsText(events, style) };
};

export const showEvent: Handler<{ event: string; from?: string }> = async (
  context,
  { event: name, from },
) => {
  const event = from === undefined ? await logged(context, name) : await inFile(context, { name, from });
  return { ok: true, data: { event }, text: (style) => eventText(event, style) };
};

async function logged(context: CommandContext, name: string) {
  const { call } = await findProcessor(context);
  const reply = await call(showProcessorEvent, { path: { event: name } });
  const refusal = refusalOf(reply);
  if (refusal) throw new CliError(refusal.code, refusal);
  return reply.body;
}

async function inFile(context: CommandContext, { name, from }: { name: string; from: string }) {
  const [event] = await chosenEvents(context, { events: [name], from });
  if (!event) throw new CliError('E_REFUSED');
  return { ...event, deliveries: [] };
}

/** `rewards clock …`: reads and moves the emulator's clock over its control API. */

import type { ControlCall, ControlReply } from '../../client/control-call.ts';
import type { ClockState, MovedClock } from '../../contract/control/clock.ts';
import * as clock from '../../contract/control/clock.ts';
import { showRequest } from '../../contract/control/requests.ts';
import { formatDuration } from '../../lib/duration.ts';
import { namesClockCondition } from '../../rules/clock-condition.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { mustSucceed, refusalOf } from '../service/control-reply.ts';
import { callFor } from '../service/target.ts';
import { spaced } from '../talk/requests/explanation.ts';
import { shortRequestId } from '../talk/requests/view.ts';
import type { Style } from '../terminal/style.ts';

export const showClock = (context: CommandContext) => withClock(context, (call) => call(clock.showClock));

export const advanceClock: Handler<{ duration?: string; until?: string; brand?: string }> = async (
  context,
  { duration, until, brand },
) => {
  if (duration !== undefined && until !== undefined) {
    throw usageError('A duration and --until exclude each other.', 'Leave one of them out.');
  }
  if (duration !== undefined)
    return withClock(context, (call) => call(clock.moveClock, { body: { advance: duration } }));
  if (until === undefined) {
    throw usageError(
      "missing required argument 'duration', or --until <condition>",
      '`rewards clock advance --help` lists what it takes.',
    );
  }
  if (namesClockCondition(until))
    return withClock(context, (call) => call(clock.moveClock, { body: { until, brand } }));
  const time = await passingTime(context, until);
  return withClock(context, (call) =>
    time === undefined ? call(clock.showClock) : call(clock.moveClock, { body: { set: time } }),
  );
};

/** When the event of a request passes; undefined when it passes already. */
async function passingTime(context: CommandContext, request: string): Promise<string | undefined> {
  const call = await callFor(context);
  const reply = await call(showRequest, { path: { id: request.replace(/^request:/, '') } });
  mustSucceed(reply);
  const { id, now, explained } = reply.body;
  const times = explained.flatMap(({ passesAt }) => passesAt ?? []).sort();
  const last = times.at(-1);
  if (last !== undefined) return last > now ? last : undefined;
  const never = explained.find((event) => event.never)?.never;
  throw new CliError('E_REFUSED', {
    message: never
      ? `Waiting does not help ${id}: ${spaced(never.check)}, ${never.text}.`
      : `${id} was not refused, so it has nothing to wait for.`,
    fix: `\`rewards requests explain ${shortRequestId(id)}\` shows every check.`,
    details: { id, never: never ?? null },
  });
}

export const setClock = (context: CommandContext, { time }: { time: string }) =>
  withClock(context, (call) => call(clock.moveClock, { body: { set: time } }));

export const freezeClock = (context: CommandContext) =>
  withClock(context, (call) => call(clock.moveClock, { body: { freeze: true } }));

export const runClock = (context: CommandContext) =>
  withClock(context, (call) => call(clock.moveClock, { body: { freeze: false } }));

async function withClock(
  context: CommandContext,
  ask: (call: ControlCall) => Promise<ControlReply<ClockState | MovedClock>>,
): Promise<CommandResult> {
  const reply = await ask(await callFor(context));
  const refusal = refusalOf(reply);
  const data = { status: reply.status, headers: reply.headers, body: reply.body };
  if (refusal) return { ok: false, error: refusal, data };
  return { ok: true, data, env: reply.body, text: (style) => clockText(reply.body, style) };
}

/** What fell due, a line each, then the clock. */
function clockText(body: ClockState | MovedClock, style: Style): string {
  const { fired = [], firedMore = 0 }: Partial<MovedClock> = body;
  const width = Math.max(0, ...fired.map(({ kind }) => kind.length));
  return [
    ...fired.map(({ at, kind, what, id }) =>
      [style.dim(at), kind.padEnd(width), what, id].filter((part) => part !== undefined).join('  '),
    ),
    ...(firedMore > 0 ? [style.dim(`and ${firedMore} more`)] : []),
    clockLine(body, style),
  ].join('\n');
}

/** `2026-11-20T09:42:01.000Z  running  1m1s ahead of real time`. */
function clockLine({ now, frozen, offsetMs }: ClockState, style: Style): string {
  const state = frozen ? style.yellow('frozen') : style.green('running');
  const distance =
    Math.abs(offsetMs) < 1_000
      ? 'real time'
      : `${formatDuration(Math.abs(offsetMs))} ${offsetMs > 0 ? 'ahead of' : 'behind'} real time`;
  return [style.bold(now), state, style.dim(distance)].join('  ');
}

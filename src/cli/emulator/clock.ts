/** `rewards clock …`: reads and moves the emulator's clock over its control API. */

import type { ClockState, DueList, MovedClock } from '../../contract/control/clock.ts';
import * as clock from '../../contract/control/clock.ts';
import type { BodyOf } from '../../contract/control/control-endpoint.ts';
import { showRequest } from '../../contract/control/requests.ts';
import { formatDuration } from '../../lib/duration.ts';
import { namesClockCondition } from '../../rules/clock-condition.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { asks } from '../service/control.ts';
import { mustSucceed } from '../service/control-reply.ts';
import { callFor } from '../service/target.ts';
import { spaced } from '../talk/requests/explanation.ts';
import { shortRequestId } from '../talk/requests/view.ts';
import type { Style } from '../terminal/style.ts';

export const showClock = asks(clock.showClock, { text: clockText });

export const showDue = asks(clock.showDue, {
  request: ({ limit }: { limit?: number }) => ({ query: { limit } }),
  text: dueText,
});

const move = asks(clock.moveClock, {
  request: (body: BodyOf<typeof clock.moveClock>) => ({ body }),
  text: clockText,
});

export const advanceClock: Handler<{ duration?: string; until?: string; brand?: string }> = async (
  context,
  { duration, until, brand },
) => {
  if (duration !== undefined && until !== undefined) {
    throw usageError('A duration and --until exclude each other.', 'Leave one of them out.');
  }
  if (duration !== undefined) return move(context, { advance: duration });
  if (until === undefined) {
    throw usageError(
      "missing required argument 'duration', or --until <condition>",
      '`rewards clock advance --help` lists what it takes.',
    );
  }
  if (namesClockCondition(until)) return move(context, { until, brand });
  const time = await passingTime(context, until);
  return time === undefined ? showClock(context, {}) : move(context, { set: time });
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

export const setClock: Handler<{ time: string }> = (context, { time }) => move(context, { set: time });
export const freezeClock: Handler<object> = (context) => move(context, { freeze: true });
export const runClock: Handler<object> = (context) => move(context, { freeze: false });

/** What fell due, a line each, then the clock. */
function clockText(body: ClockState | MovedClock, style: Style): string {
  const { fired = [], firedMore = 0 }: Partial<MovedClock> = body;
  return [
    ...itemLines(fired, style),
    ...(firedMore > 0 ? [style.dim(`and ${firedMore} more`)] : []),
    clockLine(body, style),
  ].join('\n');
}

function itemLines(items: DueList['due'], style: Style): string[] {
  const width = Math.max(0, ...items.map(({ kind }) => kind.length));
  return items.map(({ at, kind, what, id }) =>
    [style.dim(at), kind.padEnd(width), what, id].filter((part) => part !== undefined).join('  '),
  );
}

function dueText({ due }: DueList, style: Style): string {
  return due.length === 0 ? style.dim('nothing falls due') : itemLines(due, style).join('\n');
}

/** `2026-11-20T09:42:01.000Z  running  1m1s ahead of real time`. */
export function clockLine({ now, frozen, offsetMs }: ClockState, style: Style): string {
  const state = frozen ? style.yellow('frozen') : style.green('running');
  const distance =
    Math.abs(offsetMs) < 1_000
      ? 'real time'
      : `${formatDuration(Math.abs(offsetMs))} ${offsetMs > 0 ? 'ahead of' : 'behind'} real time`;
  return [style.bold(now), state, style.dim(distance)].join('  ');
}

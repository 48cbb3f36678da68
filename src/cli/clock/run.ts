/** `rewards clock …`: reads and moves the emulator's clock over its control API. */
import type { ClockBody, MovedClockBody } from '../../client/bodies.ts';
import type { Reply } from '../../client/reply.ts';
import { formatDuration } from '../../lib/duration.ts';
import { namesClockCondition } from '../../rules/clock-condition.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { spaced } from '../requests/explanation.ts';
import { shortRequestId } from '../requests/request-line.ts';
import { isRequestDetail } from '../requests/run.ts';
import { isObject } from '../service/assignments.ts';
import { mustBe, refusalOf } from '../service/control-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

type ClockCalls = ReturnType<typeof clientFor>['control']['clock'];

export const showClock = (context: CommandContext) => withClock(context, (clock) => clock.show());

export const advanceClock: Handler<{ duration?: string; until?: string; brand?: string }> = async (
  context,
  { duration, until, brand },
) => {
  if (duration !== undefined && until !== undefined) {
    throw usageError('A duration and --until exclude each other.', 'Leave one of them out.');
  }
  if (duration !== undefined) return withClock(context, (clock) => clock.advance(duration));
  if (until === undefined) {
    throw usageError(
      "missing required argument 'duration', or --until <condition>",
      '`rewards clock advance --help` lists what it takes.',
    );
  }
  if (namesClockCondition(until)) return withClock(context, (clock) => clock.until(until, brand));
  const time = await passingTime(context, until);
  return withClock(context, (clock) => (time === undefined ? clock.show() : clock.set(time)));
};

/** When the event of a request passes; undefined when it passes already. */
async function passingTime(context: CommandContext, request: string): Promise<string | undefined> {
  const client = clientFor(await resolveTarget(context), context);
  const reply = await client.control.requests.show(request.replace(/^request:/, ''));
  mustBe(reply, isRequestDetail);
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
  withClock(context, (clock) => clock.set(time));

export const freezeClock = (context: CommandContext) => withClock(context, (clock) => clock.freeze());

export const runClock = (context: CommandContext) => withClock(context, (clock) => clock.run());

async function withClock(
  context: CommandContext,
  call: (clock: ClockCalls) => Promise<Reply<ClockBody | MovedClockBody>>,
): Promise<CommandResult> {
  const client = clientFor(await resolveTarget(context), context);
  const reply = await call(client.control.clock);
  const refusal = refusalOf(reply, isClock);
  const data = { status: reply.status, headers: reply.headers, body: reply.body };
  if (refusal) return { ok: false, error: refusal, data };
  return { ok: true, data, env: reply.body, text: (style) => clockText(reply.body, style) };
}

const isClock = (body: unknown) =>
  isObject(body) && typeof body.now === 'string' && typeof body.nowMs === 'number';

/** What fell due, a line each, then the clock. */
function clockText(body: ClockBody | MovedClockBody, style: Style): string {
  const { fired = [], firedMore = 0 }: Partial<MovedClockBody> = body;
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
function clockLine({ now, frozen, offsetMs }: ClockBody, style: Style): string {
  const state = frozen ? style.yellow('frozen') : style.green('running');
  const distance =
    Math.abs(offsetMs) < 1_000
      ? 'real time'
      : `${formatDuration(Math.abs(offsetMs))} ${offsetMs > 0 ? 'ahead of' : 'behind'} real time`;
  return [style.bold(now), state, style.dim(distance)].join('  ');
}

/** `rewards requests replay`: sends a kept request again, as often as wished, and counts what that brings about. */
import { comparable, type Difference, differencesOf } from '../../../client/replay/differences.ts';
import { type Effects, effectsBetween, effectsText, settledTotals } from '../../../client/replay/effects.ts';
import { type Answered, sendAgain } from '../../../client/replay/send-again.ts';
import { showTotals } from '../../../contract/control/mints.ts';
import { type RequestDetail, showRequest } from '../../../contract/control/requests.ts';
import { formatDuration } from '../../../lib/duration.ts';
import { secureRandom } from '../../../lib/ids.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { problemOf } from '../../machine/errors.ts';
import { type CommandResult, problemText } from '../../machine/output.ts';
import { type ControlOptions, type Emulator, withControl } from '../../service/control.ts';
import { mustSucceed } from '../../service/control-reply.ts';
import type { Style } from '../../terminal/style.ts';
import { differenceLines } from './diff.ts';
import { type ExpectedEffects, effectsProblem } from './effects.ts';
import { noBodies, replayable, secretOf } from './sendable.ts';
import { shortRequestId } from './view.ts';

interface ReplayOptions extends ControlOptions {
  id: string;
  times: number;
  concurrency: number;
  diff?: boolean;
  newId?: boolean;
  expectEffects?: ExpectedEffects;
  /** Milliseconds. */
  watch: number;
}

export const replayRequest: Handler<ReplayOptions> = (context, options) =>
  withControl(context, options, async ({ call, emulator }) => {
    if (!emulator) throw noBodies();
    const reply = await call(showRequest, { path: { id: options.id } });
    mustSucceed(reply);
    return replay(context, { original: reply.body, emulator, options });
  });

async function replay(
  { runtime, settings }: CommandContext,
  {
    original,
    emulator,
    options,
  }: {
    original: RequestDetail;
    emulator: Emulator;
    options: ReplayOptions;
  },
): Promise<CommandResult> {
  const request = replayable(original, emulator);
  const secret = await secretOf(original, { emulator, env: runtime.env });
  const counts = options.diff || options.expectEffects !== undefined;
  const settling = { watchMs: options.watch, sleep: (ms: number) => runtime.clock.sleep(ms) };
  const look = async () => {
    const reply = await emulator.call(showTotals);
    mustSucceed(reply);
    return reply.body;
  };
  const totals = async () => (counts ? settledTotals(look, settling) : undefined);
  const random = secureRandom(runtime.clock);
  const before = await totals();
  const answers = await sendAgain(request, {
    times: options.times,
    concurrency: options.concurrency,
    timeoutMs: settings.timeout,
    secret,
    fetch,
    ...(options.newId && { newKey: () => random.uuid() }),
  });
  const after = await totals();
  const data: Replayed = {
    id: original.id,
    answers: options.diff ? await compared(answers, { original, emulator }) : answers,
    effects: before && after ? effectsBetween(before, after) : null,
    expected: options.expectEffects ?? null,
  };
  const problem = data.effects ? effectsProblem(data.effects, options.expectEffects) : undefined;
  const text = replayText(data, original);
  if (problem === undefined) return { ok: true, data, text };
  const fix = 'Compare with `rewards requests diff`, and look at each check with `rewards requests explain`.';
  const error = problemOf('E_UNEXPECTED_EFFECTS', { message: problem, fix });
  return {
    ok: false,
    error,
    data,
    text: (style) => [text(style), problemText(error, style)].join('\n'),
  };
}

/** Each answer beside the original's, as the log has both. */
async function compared(
  answers: Answered[],
  { original, emulator }: { original: RequestDetail; emulator: Emulator },
): Promise<Replayed['answers']> {
  const wanted = comparable(original);
  const all: Replayed['answers'] = [];
  for (const answer of answers) {
    const reply =
      answer.requestId === null
        ? undefined
        : await emulator.call(showRequest, { path: { id: answer.requestId } });
    const known = reply?.status === 200 && reply.isAnswer ? reply.body : undefined;
    all.push({ ...answer, differences: known ? differencesOf(wanted, comparable(known)) : null });
  }
  return all;
}

/** A screenful; `-o json` has all of them. */
const ANSWERS_SHOWN = 40;

const replayText =
  ({ answers, effects }: Replayed, original: Pick<RequestDetail, 'id' | 'method' | 'path' | 'status'>) =>
  (style: Style): string => {
    const { id, method, path, status } = original;
    const more = answers.length - ANSWERS_SHOWN;
    return [
      `${style.bold(shortRequestId(id))}  ${method} ${path}  ->  ${status}, sent again`,
      ...answers.slice(0, ANSWERS_SHOWN).flatMap((answer) => answerLines(answer, style)),
      ...(more > 0 ? [style.dim(`  … and ${more} more: ${tally(answers.slice(ANSWERS_SHOWN))}`)] : []),
      ...(effects ? [`effects  ${effectsText(effects)}`] : []),
    ].join('\n');
  };

function answerLines(
  { number, status, reason, requestId, durationMs, differences }: Replayed['answers'][number],
  style: Style,
): string[] {
  const paint = status !== null && status < 400 ? style.green : style.yellow;
  const line = [
    `  ${String(number).padStart(3)}`,
    paint(String(status ?? '—')),
    formatDuration(durationMs).padStart(6),
    ...(requestId === null ? [] : [style.dim(shortRequestId(requestId))]),
    ...(reason === null ? [] : [reason.replaceAll('_', ' ')]),
    ...(differences?.length === 0 ? [style.dim('as before')] : []),
    ...(differences === null ? [style.dim('not in the log any more')] : []),
  ];
  return [line.join('  '), ...differenceLines(differences ?? [], style).map((one) => `     ${one}`)];
}

/** `200 × 3, 409 × 7`. */
function tally(answers: Replayed['answers']): string {
  const counts = new Map<string, number>();
  for (const { status } of answers) {
    const name = String(status ?? 'no answer');
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${name} × ${count}`).join(', ');
}

interface Replayed {
  /** Of the original. */
  id: string;
  answers: (Answered & {
    /** With --diff: where it is not as the original; null when the log has forgotten it already. */
    differences?: Difference[] | null;
  })[];
  /** Null when they were not asked for. */
  effects: Effects | null;
  expected: ExpectedEffects | null;
}

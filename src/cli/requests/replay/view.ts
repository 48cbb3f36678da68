/** A replay for people: each answer on a line, what is different below it, and what all of them brought about. */
import type { RequestDetail } from '../../../contract/control/requests.ts';
import { formatDuration } from '../../../lib/duration.ts';
import { effectsText } from '../../talk/requests/effects.ts';
import type { Style } from '../../terminal/style.ts';
import { differenceLines } from '../compare/view.ts';
import { shortRequestId } from '../request-line.ts';
import type { Replayed } from './replayed.ts';

/** A screenful; `-o json` has all of them. */
const ANSWERS_SHOWN = 40;

export const replayText =
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

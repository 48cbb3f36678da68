/**
 * Changes that no test has to notice: each was looked at, and changes nothing that matters. They are listed in `judged/`, one
 * text for each area: a reason in a line that begins with `#`, and below it the changes that it holds for, as
 * `file: its line :: what stands there → what was put there`. A line that is written anew has to be judged anew.
 */
import { existsSync, readFileSync } from 'node:fs';
import { placeOf } from './refused-by-types.ts';
import { isOpen, type Verdict } from './verdict.ts';

const WORDS_MAX = 70;

/** The verdicts, where an open change of the list is `harmless`, by its reason. */
export function judgedByList(verdicts: readonly Verdict[]): Verdict[] {
  const reasons = new Map([...new Set(verdicts.map(({ area }) => area))].flatMap(reasonsOf));
  return verdicts.map((one) => {
    const reason = isOpen(one) ? reasons.get(nameOf(one)) : undefined;
    return reason === undefined ? one : { ...one, outcome: 'harmless', by: reason };
  });
}

/** A change as the list has it. */
export function nameOf(verdict: Verdict): string {
  const { file } = placeOf(verdict, '');
  const text = readFileSync(file, 'utf8');
  const { start, end, first } = placeOf(verdict, text);
  const line = text.split('\n')[first - 1] ?? '';
  const replacement = verdict.change.slice(verdict.change.indexOf('→') + 1);
  return `${file}: ${line.trim()} :: ${short(text.slice(start, end))} → ${short(replacement)}`;
}

const short = (text: string) => text.replaceAll(/\s+/g, ' ').trim().slice(0, WORDS_MAX).trim();

function reasonsOf(area: string): [string, string][] {
  const list = `test/reliability/mutation/judged/${area}.txt`;
  if (!existsSync(list)) return [];
  let reason = '';
  return readFileSync(list, 'utf8')
    .split('\n')
    .flatMap((line): [string, string][] => {
      if (line.startsWith('#')) reason = line.slice(1).trim();
      return line === '' || line.startsWith('#') ? [] : [[line, reason]];
    });
}

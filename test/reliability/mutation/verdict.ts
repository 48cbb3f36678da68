/**
 * `untried`: the change could not be made, or no test reaches it. `harmless`: no test has to notice it (`judged.ts`).
 * `void`: what was changed is not a program, or the very same one; it does not count.
 */
export type Outcome = 'noticed' | 'survived' | 'untried' | 'harmless' | 'void';

/** What became of one change. */
export interface Verdict {
  /** Area of the source, or `planted`. */
  area: string;
  /** File and line, from the root of the project. */
  where: string;
  /** What was changed, in one line. */
  change: string;
  outcome: Outcome;
  /** The test that noticed it, where that is known; `time` when a test did not end, `types` when the compiler refused it; why it is harmless. */
  by?: string | undefined;
}

/** Whether a test failed only because something did not end: then a busy machine may be all that it noticed. */
export function isOfTime(message = ''): boolean {
  return /timed out/i.test(message);
}

/** Share of the changes that the tests noticed, from 0 to 1; of those that are changes, and with `judged` of those that matter. */
export function scoreOf(verdicts: readonly Verdict[], { judged = false } = {}): number {
  const counted = verdicts.filter(({ outcome }) => outcome !== 'void' && !(judged && outcome === 'harmless'));
  const noticed = counted.filter(({ outcome }) => outcome === 'noticed').length;
  return counted.length === 0 ? 0 : noticed / counted.length;
}

/** One line a group: how many changes, how many of them the tests noticed, and how many of those only by not ending. */
export function scoreTable(verdicts: readonly Verdict[]): string[] {
  const names = [...new Set(verdicts.map(({ area }) => area)), 'all'];
  const line = (cells: readonly (string | number)[]) =>
    cells.map((cell, i) => (i === 0 ? String(cell).padEnd(10) : String(cell).padStart(9))).join(' ');
  return [
    line([
      ...['area', 'changes', 'noticed', 'by time', 'by types', 'survived', 'untried', 'harmless'],
      ...['raw', 'judged'],
    ]),
    ...names.map((name) => {
      const all = verdicts.filter(
        ({ area, outcome }) => outcome !== 'void' && (name === 'all' || area === name),
      );
      const count = (outcome: Outcome) => all.filter((one) => one.outcome === outcome).length;
      const byTime = all.filter(({ by }) => by === 'time').length;
      const byTypes = all.filter(({ by }) => by === 'types').length;
      const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
      const scores = [scoreOf(all), scoreOf(all, { judged: true })].map(percent);
      const missed = [count('survived'), count('untried'), count('harmless')];
      return line([name, all.length, count('noticed'), byTime, byTypes, ...missed, ...scores]);
    }),
  ];
}

export const isOpen = ({ outcome }: Verdict): boolean => outcome === 'survived' || outcome === 'untried';

/** Verdicts of one run, the open ones replaced by what a later run found of them. */
export function withNews(before: readonly Verdict[], found: readonly Verdict[]): Verdict[] {
  const keyOf = ({ where, change }: Verdict) => `${where} ${change}`;
  const news = new Map(found.map((one) => [keyOf(one), one]));
  return before.map((one) => (isOpen(one) ? (news.get(keyOf(one)) ?? one) : one));
}

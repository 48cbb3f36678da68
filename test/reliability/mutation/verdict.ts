/** What became of one change. */
export interface Verdict {
  /** Area of the source, or `planted`. */
  area: string;
  /** File and line, from the root of the project. */
  where: string;
  /** What was changed, in one line. */
  change: string;
  /** `untried`: the change could not be made, or no test reaches it. */
  outcome: 'noticed' | 'survived' | 'untried';
}

/** One line a group: how many changes, and how many of them the tests noticed. */
export function scoreTable(verdicts: readonly Verdict[]): string[] {
  const names = [...new Set(verdicts.map(({ area }) => area)), 'all'];
  return [
    `${'area'.padEnd(10)} ${'changes'.padStart(8)} ${'noticed'.padStart(8)} ${'survived'.padStart(9)} ${'untried'.padStart(8)} ${'score'.padStart(8)}`,
    ...names.map((name) => {
      const all = verdicts.filter(({ area }) => name === 'all' || area === name);
      const count = (outcome: Verdict['outcome']) => all.filter((one) => one.outcome === outcome).length;
      const score = all.length === 0 ? 0 : (100 * count('noticed')) / all.length;
      return `${name.padEnd(10)} ${String(all.length).padStart(8)} ${String(count('noticed')).padStart(8)} ${String(count('survived')).padStart(9)} ${String(count('untried')).padStart(8)} ${`${score.toFixed(1)} %`.padStart(8)}`;
    }),
  ];
}

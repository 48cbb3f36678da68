/** One check of a request, as `rewards requests explain` shows it. */
export interface Check<Name extends string> {
  name: Name;
  outcome: 'ok' | 'refused' | 'skipped' | 'not reached';
  /** The two sides of the comparison, for example the claims so far and their limit. */
  text: string;
  /** When the same request would pass this check; null: never by waiting. Only where it refused. */
  passesAtMs?: number | null;
  /** What else would let it pass. */
  or?: string;
}

/** The checks in their order: those before the one that refused, that one, and those that were not reached. */
export function explainChecks<Name extends string>(
  names: readonly Name[],
  refusedAt: Name | undefined,
  text: {
    passed: (name: Name) => Omit<Check<Name>, 'name'>;
    refused: () => Omit<Check<Name>, 'name' | 'outcome'>;
  },
): Check<Name>[] {
  const stop = refusedAt === undefined ? names.length : names.indexOf(refusedAt);
  return names.map((name, place): Check<Name> => {
    if (place > stop) return { name, outcome: 'not reached', text: '' };
    if (place < stop) return { name, ...text.passed(name) };
    return { name, outcome: 'refused', ...text.refused() };
  });
}

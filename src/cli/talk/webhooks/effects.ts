/** What deliveries have brought about: how often RWT was minted, and whether that is what was expected. */
import type { Delivered } from './send-deliveries.ts';

export interface Effects {
  /** `chain`: the mints in the stack's blocks. `answers`: what payment-mint says, where the chain is out of reach. */
  measured: 'chain' | 'answers';
  deliveries: number;
  /** Mints that came with these deliveries. */
  mints: number;
  /** Sessions that had been minted before. */
  mintedBefore: number;
  /** Sessions that have more than one mint. */
  mintedTwice: string[];
}

/** Mints for each session, before and after the deliveries. */
export function effectsOnChain(
  deliveries: number,
  { before, after }: { before: ReadonlyMap<string, number>; after: ReadonlyMap<string, number> },
): Effects {
  const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((a, b) => a + b, 0);
  return {
    measured: 'chain',
    deliveries,
    mints: sum(after) - sum(before),
    mintedBefore: [...before.values()].filter((count) => count > 0).length,
    mintedTwice: [...after].filter(([, count]) => count > 1).map(([session]) => session),
  };
}

/** Each transaction that payment-mint names counts as one mint, without the answers `alreadyProcessed`. */
export function effectsInAnswers(delivered: readonly Delivered[]): Effects {
  const minted = delivered.filter(({ transactionHash }) => transactionHash !== null);
  const mintedNow = minted.filter(({ alreadyProcessed }) => !alreadyProcessed);
  const hashesOf = (session: string) =>
    new Set(
      minted.filter(({ objectId }) => objectId === session).map(({ transactionHash }) => transactionHash),
    );
  const sessions = [...new Set(minted.map(({ objectId }) => objectId))];
  const now = new Set(mintedNow.map(({ objectId }) => objectId));
  return {
    measured: 'answers',
    deliveries: delivered.length,
    mints: new Set(mintedNow.map(({ transactionHash }) => transactionHash)).size,
    mintedBefore: sessions.filter((session) => !now.has(session)).length,
    mintedTwice: sessions.filter((session) => hashesOf(session).size > 1),
  };
}

const howMany = (count: number, one: string, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;

/** `exactly once: 3 deliveries, 1 mint`. */
export function effectsText(effects: Effects, expected: number | undefined): string {
  const { deliveries, mints, mintedBefore, mintedTwice } = effects;
  const said = `${howMany(deliveries, 'delivery', 'deliveries')}, ${mints === 0 ? 'no mint' : howMany(mints, 'mint')}`;
  const before = mintedBefore > 0 ? ` (${howMany(mintedBefore, 'session')} minted before)` : '';
  if (mintedTwice.length > 0)
    return `more than once: ${said}${before}; twice or more for ${mintedTwice.join(', ')}`;
  if (expected !== undefined && expected !== mints) return `not as expected: ${said}${before}`;
  return `${mints > 0 || mintedBefore > 0 ? 'exactly once' : 'no effect'}: ${said}${before}`;
}

/** What is wrong with the effects; undefined when they are as expected, and no session has two mints. */
export function effectsProblem(effects: Effects, expected: number | undefined): string | undefined {
  if (effects.mintedTwice.length > 0)
    return `Sessions were minted more than once: ${effects.mintedTwice.join(', ')}.`;
  if (expected === undefined || expected === effects.mints) return undefined;
  return `${expected === 0 ? 'No mint' : howMany(expected, 'mint')} expected, and there ${effects.mints === 1 ? 'was' : 'were'} ${effects.mints}.`;
}

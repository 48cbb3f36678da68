/** A part of the history to compare: from a block or a time on, and what that leaves out. */
import type { Since } from '../rules/since.ts';
import { type Audit, isWhole, type VerifyDeps } from './audit.ts';

/** The block to begin with; the first one that can hold anything of ours when `since` is undefined or earlier. */
export async function sinceBlock(
  deps: Pick<VerifyDeps, 'chain' | 'firstBlock'>,
  of: { since: Since | undefined; newest: number },
): Promise<number> {
  const { chain, firstBlock } = deps;
  const { since, newest } = of;
  if (since === undefined) return firstBlock;
  if ('block' in since) return Math.max(firstBlock, since.block);
  let earliest = firstBlock;
  let after = newest + 1;
  while (earliest < after) {
    const middle = Math.floor((earliest + after) / 2);
    const block = await chain.block(middle);
    if (block && block.timestampSeconds * 1_000 < since.timeMs) earliest = middle + 1;
    else after = middle;
  }
  return earliest;
}

/** What a comparison of a part leaves out, as phrases for people; empty for the whole. */
export function notCompared(audit: Audit): string[] {
  if (isWhole(audit)) return [];
  const { since, seen } = audit;
  const from = seen.lowestSequence;
  return [
    `payouts, deposits and withdrawals before block ${since}`,
    from === undefined ? 'rewards' : `rewards below sequence ${from}`,
    `transactions that were final before block ${since}`,
    "brands' balances and accounts",
    "the token's supply",
    'counters of claims',
    'leaderboards, achievements and milestones',
  ];
}

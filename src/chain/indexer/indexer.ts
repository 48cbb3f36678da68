/** Reads the chain block by block into the ledger. Blocks that the chain takes back are read again. */
import { invalidateEverybody } from '../../ledger/constraint-results.ts';
import { takeBackFacts } from '../../ledger/consumers/feed.ts';
import type { Database } from '../../ledger/database/database.ts';
import { forgetMintedByOthers } from '../../ledger/payments/mints.ts';
import { chargeGas } from '../../ledger/relay/gas-charges.ts';
import { unbookMovementsFrom } from '../../ledger/rewards/funds.ts';
import { findBySequences, forgetFailures } from '../../ledger/rewards/rewards.ts';
import { forgetBlocksFrom, recentBlocks } from '../../ledger/transactions/followed-blocks.ts';
import { reopenFrom, unsettledIds } from '../../ledger/transactions/transactions.ts';
import type { Alarms } from '../alarms.ts';
import { sequencesInPayout } from '../contracts/payout-batch.ts';
import type { Block } from '../rpc/client.ts';
import { applyBlock } from './apply-block.ts';
import { createBlockReader } from './read-block.ts';
import type { FollowDeps } from './types.ts';

interface Follower {
  /** Reads everything up to the present head, as far as it is confirmed. */
  catchUp(signal?: AbortSignal): Promise<void>;
}

/** The follower of one chain. Several processes may follow at once: what they write is the same. */
export function createFollower(deps: FollowDeps): Follower {
  const { chain, settings } = deps;
  const isGone = patience(deps);
  const readBlock = createBlockReader(deps);
  let alarmsAtBlock = -1;
  return {
    async catchUp(signal) {
      const head = await chain.block('latest');
      if (!head) return;
      if (head.number !== alarmsAtBlock) await endSkippedAlarms(deps);
      alarmsAtBlock = head.number;
      let next = await firstUnread(deps, head, isGone);
      if (next === undefined) return;
      const of = head.number - settings.confirmations + 1;
      const read = (block: number) => deps.onReading?.({ block, of, head: head.number });
      if (next <= of) read(next - 1);
      while (!signal?.aborted && next <= of) {
        const block = next === head.number ? head : await chain.block(next);
        if (!block) return;
        const contents = await readBlock(block);
        deps.crash('follow.receipts-read');
        if (!contents) return;
        const again = await chain.block(block.number);
        // What another block of this number holds would be booked under the wrong hash.
        if (again?.hash !== block.hash) return;
        const booked = await applyBlock(deps, contents);
        if (!booked) return;
        deps.crash('follow.committed');
        for (const transaction of booked) deps.onIncluded(transaction);
        if (booked.length > 0) deps.onFed?.();
        read(next);
        next += 1;
        await endSkippedAlarms(deps);
      }
    },
  };
}

/** How long a block that was read may be missing before it counts as taken back. */
const MISSING_MS = 3_000;

/** Tells whether a block has been missing at every look for longer than a node stays behind. */
function patience({ clock, realClock = clock }: FollowDeps): (missing: boolean) => boolean {
  let sinceMs: number | undefined;
  return (missing) => {
    sinceMs = missing ? (sinceMs ?? realClock.now()) : undefined;
    return sinceMs !== undefined && realClock.now() - sinceMs >= MISSING_MS;
  };
}

/**
 * The block to read next; takes back what blocks had shown that the chain no longer has. Undefined when the node
 * does not show enough to tell: a node that is behind lacks blocks too, so only a different block in the place of one
 * that was read, or a long absence, means that the chain took it back.
 */
async function firstUnread(
  deps: FollowDeps,
  head: Block,
  isGone: (missing: boolean) => boolean,
): Promise<number | undefined> {
  const { database, chain, settings, log } = deps;
  const [newest] = await recentBlocks(database.db, 1);
  if (!newest) return settings.firstBlock;
  const there = newest.hash === head.hash ? head : await chain.block(newest.number);
  if (there?.hash === newest.hash) {
    isGone(false);
    return newest.number + 1;
  }
  const known = await recentBlocks(database.db, settings.finalityBlocks + 1);
  if (!there) {
    const gone = isGone(true);
    const atHead = known.find(({ number }) => number === head.number);
    const isBehind = head.number >= newest.number || !atHead || atHead.hash === head.hash;
    if (isBehind && !gone) return undefined;
  }
  let firstLost = newest.number;
  for (const { number, hash } of known.slice(1)) {
    const block = await chain.block(number);
    if (block?.hash === hash) break;
    if (!block && number <= head.number) return undefined;
    firstLost = number;
  }
  isGone(false);
  log.warn({ fromBlock: firstLost, toBlock: newest.number }, 'the chain was reorganised');
  await database.atomically(async (tx) => {
    await takeBackFacts(tx, { blockNumber: firstLost, sequencesOf: sequencesInPayout });
    const reopened = await reopenFrom(tx, firstLost);
    // Also of those whose blocks showed bytes that the ledger did not know.
    await forgetFailures(tx, await unsettledIds(tx));
    await chargeGas(tx, reopened);
    await unbookMovementsFrom(tx, firstLost);
    await forgetMintedByOthers(tx, firstLost);
    await forgetBlocksFrom(tx, firstLost);
    await invalidateEverybody(tx);
  });
  deps.crash('follow.reopened');
  deps.onReorganized();
  deps.onFed?.();
  return firstLost;
}

/** Alarms looked after at once; the others follow with the next block. */
const AT_ONCE = 500;

/** The ledger is asked, since another process may have settled the reward. */
async function endSkippedAlarms({ database, alarms }: { database: Database; alarms: Alarms }): Promise<void> {
  const skipped = alarms.list().filter(({ code }) => code === 'reward_skipped');
  if (skipped.length === 0) return;
  const sequences = skipped.slice(0, AT_ONCE).map(({ about }) => Number(about));
  for (const { sequence, releasedAt } of await findBySequences(database.db, sequences))
    if (releasedAt !== null) alarms.clear('reward_skipped', String(sequence));
}

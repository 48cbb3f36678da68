/**
 * Writes what the logs of one block say into the ledger: of the escrow deposits, withdrawals, redemptions and rewards
 * that it skipped; mints that others have made; and whose RWT have moved.
 */
import { decodeEventLog, encodeEventTopics, type Hex } from 'viem';
import { areThereResults, invalidateEverybody, invalidateUsers } from '../../ledger/constraint-results.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { noteMintedByOthers } from '../../ledger/payments/mints.ts';
import { bookMovement } from '../../ledger/rewards/funds.ts';
import { failRewards, findBySequences } from '../../ledger/rewards/rewards.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { businessEscrowAbi, pointsSaleAbi, rewardTokenAbi } from '../contracts/abis.ts';
import { skipReasons } from '../contracts/payout-batch.ts';
import type { Block, Log as ChainLog, Log } from '../rpc/client.ts';
import type { BlockContents } from './read-block.ts';
import type { FollowDeps } from './types.ts';

/** Returns the rewards that were skipped, by id. */
export async function bookEscrowLogs(
  { clock, settings, alarms }: Pick<FollowDeps, 'clock' | 'settings' | 'alarms'>,
  tx: Queries,
  { block, logs }: { block: Pick<Block, 'number'>; logs: readonly ChainLog[] },
): Promise<Map<string, string>> {
  const failures = new Map<string, string>();
  const escrow = settings.escrow.toLowerCase();
  for (const one of logs) {
    if (!bookedTopics.has(one.topics[0]) || one.address.toLowerCase() !== escrow) continue;
    const event = decodeEscrowLog(one);
    if (event && isMovement(event)) {
      await bookMovement(tx, {
        id: `${one.transactionHash}:${one.logIndex}`,
        kind: movementKinds[event.eventName],
        brandId: event.args.brand.toLowerCase() as BrandId,
        amount: Number(event.args.amount),
        transactionHash: one.transactionHash,
        logIndex: one.logIndex,
        blockNumber: block.number,
        createdAt: clock.now(),
      });
    } else if (event?.eventName === 'RewardSkipped') {
      const reason = skipReasons[event.args.reason as keyof typeof skipReasons] ?? 'skipped';
      const sequences = [Number(event.args.sequence)];
      if (reason === 'already_paid') {
        // Not a failure when an earlier try of ours has paid this reward. Without an earlier try, another user of
        // this escrow has paid under our sequence, which only an operator can put right.
        const [reward] = await findBySequences(tx, sequences);
        if (reward?.failedTries === 0)
          alarms.raise('reward_skipped', String(event.args.sequence), { reason });
        continue;
      }
      alarms.raise('reward_skipped', String(event.args.sequence), { reason });
      await failRewards(tx, { sequences, failure: reason });
      for (const { id } of await findBySequences(tx, sequences)) failures.set(id, reason);
    }
  }
  return failures;
}

/** What changes a brand's balance in the escrow beside rewards; what users paid for perks, the brand can spend again. */
const movementKinds = { Deposited: 'deposit', Withdrawn: 'withdrawal', Redeemed: 'redemption' } as const;

/** What is booked, by first topic: a block has a transfer for each reward, which need not be decoded to be told apart. */
const bookedTopics: ReadonlySet<Hex | undefined> = new Set(
  (['Deposited', 'Withdrawn', 'Redeemed', 'RewardSkipped'] as const).map(
    (eventName) => encodeEventTopics({ abi: businessEscrowAbi, eventName })[0],
  ),
);

type EscrowEvent = NonNullable<ReturnType<typeof decodeEscrowLog>>;
const isMovement = (
  event: EscrowEvent,
): event is Extract<EscrowEvent, { eventName: keyof typeof movementKinds }> =>
  event.eventName in movementKinds;

function decodeEscrowLog({ topics, data }: ChainLog) {
  try {
    return decodeEventLog({ abi: businessEscrowAbi, topics: topics as [Hex, ...Hex[]], data });
  } catch {
    return undefined;
  }
}

// Settles the mints that others have made in one block: with the mint key by hand, or by a process that is gone.

/** The events that say that a key is used, by first topic. */
const saleTopics: ReadonlySet<Hex | undefined> = new Set(
  (['Minted', 'MintedIntoEscrow', 'AlreadyMinted'] as const).map(
    (eventName) => encodeEventTopics({ abi: pointsSaleAbi, eventName })[0],
  ),
);

/** `ours`: hashes of our own transactions in the block, whose outcome settles their mints. */
export async function bookSaleLogs(
  tx: Queries,
  of: Pick<BlockContents, 'block' | 'logs'> & {
    settings: Pick<FollowDeps['settings'], 'pointsSale'>;
    ours: ReadonlySet<Hex>;
  },
): Promise<void> {
  const sale = of.settings.pointsSale.toLowerCase();
  const shown = of.logs.flatMap((log) => {
    if (!saleTopics.has(log.topics[0]) || log.address.toLowerCase() !== sale) return [];
    const key = of.ours.has(log.transactionHash) ? undefined : keyOf(log);
    return key ? [{ key, hash: log.transactionHash, block: of.block.number }] : [];
  });
  if (shown.length > 0) await noteMintedByOthers(tx, shown);
}

function keyOf({ topics, data }: ChainLog): Hex | undefined {
  try {
    const event = decodeEventLog({ abi: pointsSaleAbi, topics: topics as [Hex, ...Hex[]], data });
    return 'key' in event.args ? event.args.key : undefined;
  } catch {
    return undefined;
  }
}

// What brands' servers said about a user is asked again once the user's RWT have moved (contract: automatic
// invalidation).

/** Of a block whose transfers were too many to be read, everybody may have moved some. */
export async function forgetMoversResults(
  tx: Queries,
  { token, contents }: { token: Hex; contents: Pick<BlockContents, 'logs' | 'isWhole'> },
): Promise<void> {
  if (!contents.isWhole) return invalidateEverybody(tx);
  if (!(await areThereResults(tx))) return;
  const movers = new Set<Hex>();
  const movedToken = token.toLowerCase();
  for (const one of contents.logs) {
    if (one.address.toLowerCase() !== movedToken) continue;
    for (const account of transferred(one)) movers.add(account.toLowerCase() as Hex);
  }
  await invalidateUsers(tx, [...movers].sort());
}

const [TRANSFER] = encodeEventTopics({ abi: rewardTokenAbi, eventName: 'Transfer' });

/** Who gave and who got; accounts are the last 20 bytes of a topic. Read in place: a block has a transfer for each reward. */
function transferred({ topics: [event, ...accounts] }: Log): Hex[] {
  return event === TRANSFER ? accounts.map((topic) => `0x${topic.slice(-40)}` as const) : [];
}

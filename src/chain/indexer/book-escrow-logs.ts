/** Writes what the escrow said in one block into the ledger: deposits, withdrawals, redemptions, and rewards that it skipped. */
import { decodeEventLog, encodeEventTopics, type Hex } from 'viem';
import type { Queries } from '../../ledger/database/database.ts';
import { bookMovement } from '../../ledger/rewards/funds.ts';
import { failRewards, findBySequences } from '../../ledger/rewards/rewards.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { businessEscrowAbi } from '../contracts/abis.ts';
import { skipReasons } from '../contracts/payout-batch.ts';
import type { Block, Log as ChainLog } from '../rpc/client.ts';
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

/** From the chain to the ledger: every payout has its reward, every movement its row, every token its sale. */

import type { PayoutEntry } from '../chain/contracts/payout-batch.ts';
import { movementsIn, rewardsBySequence } from '../ledger/audit-pages.ts';
import { type FoundAttempt, findByHashes } from '../ledger/transactions/transactions.ts';
import { type Audit, addTo } from './audit.ts';
import type { EscrowActivity } from './chain-history.ts';
import { payoutsIn } from './read-attempt.ts';

/** Blocks asked for at once; a node with a lower limit is asked for fewer. */
const BLOCKS_PER_PAGE = 1_000;

export async function verifyPayouts(audit: Audit): Promise<void> {
  const { database, history, block, supply } = audit;
  for (let from = audit.firstBlock; from <= block && !audit.stopped(); from += BLOCKS_PER_PAGE) {
    const to = Math.min(from + BLOCKS_PER_PAGE - 1, block);
    const activities = await history.activity(from, to);
    const hashes = activities.filter(hasPayouts).map(({ transactionHash }) => transactionHash);
    const known = new Map((await findByHashes(database.db, hashes)).map((one) => [one.hash, one]));
    for (const activity of activities) {
      supply.minted += activity.minted;
      supply.sold += activity.sold;
      for (const { brandId, amount } of activity.redeemed) addTo(audit.sums.redeemed, brandId, amount);
      if (hasPayouts(activity)) await checkPayouts(audit, activity, known.get(activity.transactionHash));
      else checkTransfers(audit, activity, []);
    }
    await checkMovements(audit, { from, to, activities });
  }
  if (audit.stopped()) return;
  const total = await history.totalSupply(block);
  if (total !== supply.sold || supply.minted !== supply.sold) {
    audit.findings.add('token_supply', {
      message: 'the supply of RWT is not the sum of the sales',
      about: { block },
      expected: supply.sold,
      found: total,
    });
  }
}

const hasPayouts = ({ distributed }: EscrowActivity) => distributed.length > 0;

async function checkPayouts(
  audit: Audit,
  activity: EscrowActivity,
  known: FoundAttempt | undefined,
): Promise<void> {
  const { findings, database, history } = audit;
  const { transactionHash: hash, blockNumber } = activity;
  const about = { transaction: hash, block: blockNumber };
  if (!known) {
    const message = `the escrow paid in ${hash}, which the ledger does not know`;
    findings.add('unknown_payout_transaction', { message, about, found: hash });
  }
  const entries = known ? payoutsIn(known.raw) : await history.payoutsOf(hash);
  if (!entries) return;
  const paid = withoutSkipped(entries, activity);
  checkTransfers(audit, activity, paid);
  const rows = await rewardsBySequence(
    database.db,
    paid.map(({ sequence }) => Number(sequence)),
  );
  const rewards = new Map(rows.map((row) => [row.sequence, row]));
  findings.checked.payouts += paid.length;
  for (const { sequence, brandId, to, amount } of paid) {
    const reward = rewards.get(Number(sequence));
    const where = { ...about, sequence: Number(sequence), reward: reward?.id ?? null };
    const found = `${amount} RWT of ${brandId} to ${to}`;
    if (!reward) {
      const message = `sequence ${sequence} was paid on chain, but no reward has it`;
      findings.add('payout_without_reward', { message, about: where, found });
      continue;
    }
    const expected = `${reward.amount} RWT of ${reward.brandId} to ${reward.wallet.toLowerCase()}`;
    if (expected !== found) {
      const message = `sequence ${sequence} was paid on chain, but not as its reward says`;
      findings.add('payout_differs', { message, about: where, expected, found });
    }
    if (known && reward.transactionId !== known.transaction.id) {
      findings.add('payout_by_other_transaction', {
        message: `sequence ${sequence} was paid by a transaction that its reward is not bound to`,
        about: where,
        expected: reward.transactionId,
        found: known.transaction.id,
      });
    }
  }
}

/** Entries that were paid: where a batch has a sequence twice, the later entry was skipped. */
function withoutSkipped(entries: readonly PayoutEntry[], { skipped }: EscrowActivity): PayoutEntry[] {
  const paid = [...entries];
  for (const { sequence } of skipped) {
    const place = paid.findLastIndex((entry) => Number(entry.sequence) === sequence);
    if (place !== -1) paid.splice(place, 1);
  }
  return paid;
}

/** The escrow's events, its calldata and the token's transfers must agree. */
function checkTransfers({ findings }: Audit, activity: EscrowActivity, paid: readonly PayoutEntry[]): void {
  const withdrawn = activity.movements.filter(({ kind }) => kind === 'withdrawal');
  const list = (transfers: { to: string; amount: bigint }[]) =>
    transfers
      .map(({ to, amount }) => `${amount}>${to}`)
      .sort()
      .join(' ');
  const expected = list([...paid, ...withdrawn.map(({ brandId, amount }) => ({ to: brandId, amount }))]);
  const found = list(activity.transfers);
  const said = activity.distributed.reduce((sum, { total }) => sum + total, 0n);
  const sum = paid.reduce((amount, entry) => amount + entry.amount, 0n);
  if (expected === found && said === sum) return;
  findings.add('payout_sum', {
    message: 'what left the escrow is not what it was told to pay',
    about: { transaction: activity.transactionHash, block: activity.blockNumber, said: String(said) },
    expected: expected.slice(0, SHOWN),
    found: found.slice(0, SHOWN),
  });
}

/** Characters of a list of transfers that help to find the transaction; the chain has the rest. */
const SHOWN = 500;

async function checkMovements(
  { findings, database }: Audit,
  of: { from: number; to: number; activities: EscrowActivity[] },
): Promise<void> {
  const rows = await movementsIn(database.db, of);
  const booked = new Map(rows.map((row) => [`${row.transactionHash}:${row.logIndex}`, row]));
  for (const { transactionHash: transaction, blockNumber: block, movements } of of.activities) {
    for (const { kind, brandId, amount, logIndex } of movements) {
      const key = `${transaction}:${logIndex}`;
      const row = booked.get(key);
      booked.delete(key);
      const found = `${kind} of ${amount} RWT by ${brandId}`;
      const expected = row && `${row.kind} of ${row.amount} RWT by ${row.brandId.toLowerCase()}`;
      if (expected === found) continue;
      const message = row
        ? 'a movement in the ledger differs from the one on the chain'
        : 'a movement on the chain is not in the ledger';
      findings.add('movement_unbooked', {
        message,
        about: { transaction, logIndex, block, brandId },
        expected,
        found,
      });
    }
  }
  for (const { transactionHash, logIndex, blockNumber, brandId, kind, amount } of booked.values()) {
    findings.add('movement_without_log', {
      message: 'a movement in the ledger is not on the chain',
      about: { transaction: transactionHash, logIndex, block: blockNumber, brandId },
      expected: `${kind} of ${amount} RWT by ${brandId}`,
    });
  }
}

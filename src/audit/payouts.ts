/** From the chain to the ledger: every payout has its reward, every movement its row, every token its sale. */

import type { Hex } from 'viem';
import { payoutsIn } from '../chain/contracts/calls/read-attempt.ts';
import type { PayoutEntry } from '../chain/contracts/payout-batch.ts';
import { movementsIn, rewardsBySequence } from '../ledger/audit-pages.ts';
import { directMints } from '../ledger/payments/mints.ts';
import { type FoundAttempt, findByHashes } from '../ledger/transactions/transactions.ts';
import { type Audit, addTo, isWhole } from './audit.ts';
import type { ActivityPage } from './chain-history.ts';
import { countPerkSales } from './engagement/perks.ts';
import type { EscrowActivity } from './escrow-activity.ts';
import { checkSales } from './mints.ts';
import { checkRedeemed } from './redemptions.ts';

export async function verifyPayouts(audit: Audit): Promise<void> {
  const { history, block, since, supply } = audit;
  for await (const page of history.activity(since, block)) {
    await checkPage(audit, page);
    audit.progress({ part: 'blocks', done: page.to - since + 1, of: block - since + 1 });
    if (audit.stopped()) return;
  }
  if (!isWhole(audit)) return;
  const total = await history.totalSupply(block);
  const explained = supply.sold + supply.recorded;
  if (total !== explained || supply.minted !== explained) {
    audit.findings.add('token_supply', {
      message: "the supply of RWT is not the sum of the sales and of operators' recorded mints",
      about: { block, transaction: supply.unexplained ?? null },
      expected: explained,
      found: total,
    });
  }
}

const hasPayouts = ({ distributed }: EscrowActivity) => distributed.length > 0;

/** A transaction's payouts as its calldata has them, without those that the escrow skipped. */
interface PaidBatch {
  activity: EscrowActivity;
  known: FoundAttempt | undefined;
  paid: PayoutEntry[];
}

/** Reads the ledger's side of a page of the chain in a few statements, and compares. */
async function checkPage(audit: Audit, page: ActivityPage): Promise<void> {
  const { db, supply } = audit;
  const hashes = page.activities.filter(hasPayouts).map(({ transactionHash }) => transactionHash);
  const known = new Map((await findByHashes(db, hashes)).map((one) => [one.hash, one]));
  const batches: PaidBatch[] = [];
  const pastSale = new Map<Hex, bigint>();
  for (const activity of page.activities) {
    supply.minted += activity.minted;
    const sold = activity.sales.reduce((sum, { amount }) => sum + amount, 0n);
    supply.sold += sold;
    if (activity.minted > sold) pastSale.set(activity.transactionHash, activity.minted - sold);
    const batch = hasPayouts(activity)
      ? await readBatch(audit, activity, known.get(activity.transactionHash))
      : undefined;
    if (batch) batches.push(batch);
    else if (!hasPayouts(activity)) checkTransfers(audit, activity, []);
    await audit.breathe();
  }
  const sequences = batches.flatMap(({ paid }) => paid.map(({ sequence }) => Number(sequence)));
  const rewards = new Map((await rewardsBySequence(db, sequences)).map((row) => [row.sequence, row]));
  await audit.breathe();
  for (const batch of batches) {
    checkPayouts(audit, batch, rewards);
    await audit.breathe();
  }
  await checkMintsPastSale(audit, pastSale);
  await checkSales(audit, page);
  await checkRedeemed(audit, page);
  await countPerkSales(audit, page);
  await checkMovements(audit, page);
}

/** What was minted past the sale is explained where an operator has recorded just that amount for that transaction. */
async function checkMintsPastSale({ db, supply }: Audit, minted: Map<Hex, bigint>): Promise<void> {
  const recorded = await directMints(db, [...minted.keys()]);
  for (const [hash, amount] of minted) {
    if (recorded.get(hash) === amount) supply.recorded += amount;
    else supply.unexplained ??= hash;
  }
}

async function readBatch(
  audit: Audit,
  activity: EscrowActivity,
  known: FoundAttempt | undefined,
): Promise<PaidBatch | undefined> {
  const { findings, history, seen } = audit;
  const { transactionHash: hash, blockNumber: block } = activity;
  if (known) noteInclusion(seen, activity, known);
  else {
    const message = `the escrow paid in ${hash}, which the ledger does not know`;
    findings.add('unknown_payout_transaction', { message, about: { transaction: hash, block }, found: hash });
  }
  const entries = known ? payoutsIn(known.raw) : await history.payoutsOf(hash);
  if (!entries) return undefined;
  const paid = withoutSkipped(entries, activity);
  checkTransfers(audit, activity, paid);
  return { activity, known, paid };
}

/** Logs exist only where a transaction succeeded: they show its block as a receipt would. */
function noteInclusion(
  seen: Audit['seen'],
  activity: EscrowActivity,
  { hash, kind, transaction }: FoundAttempt,
) {
  const { lane, outcome, blockHash, blockNumber } = transaction;
  const isAsBooked =
    kind === 'payload' &&
    outcome === 'done' &&
    transaction.hash === hash &&
    blockHash === activity.blockHash &&
    blockNumber === activity.blockNumber;
  if (isAsBooked) seen.inclusions.set(lane, (seen.inclusions.get(lane) ?? 0) + 1);
}

type PaidReward = Awaited<ReturnType<typeof rewardsBySequence>>[number];

function checkPayouts(
  { findings, seen }: Audit,
  { activity, known, paid }: PaidBatch,
  rewards: Map<number, PaidReward>,
): void {
  findings.checked.payouts += paid.length;
  for (const entry of paid) {
    const sequence = Number(entry.sequence);
    const reward = rewards.get(sequence);
    if (sequence < (seen.lowestSequence ?? Number.POSITIVE_INFINITY)) seen.lowestSequence = sequence;
    const isAsPromised =
      reward !== undefined &&
      reward.amount === Number(entry.amount) &&
      reward.wallet.toLowerCase() === entry.to &&
      reward.brandId === entry.brandId;
    const isByItsOwn = reward !== undefined && (!known || reward.transactionId === known.transaction.id);
    if (isAsPromised && isByItsOwn) continue;
    const { transactionHash: transaction, blockNumber: block } = activity;
    const about = { transaction, block, sequence, reward: reward?.id ?? null };
    const found = `${entry.amount} RWT of ${entry.brandId} to ${entry.to}`;
    if (!reward) {
      const message = `sequence ${sequence} was paid on chain, but no reward has it`;
      findings.add('payout_without_reward', { message, about, found });
      continue;
    }
    const expected = `${reward.amount} RWT of ${reward.brandId} to ${reward.wallet.toLowerCase()}`;
    if (expected !== found) {
      const message = `sequence ${sequence} was paid on chain, but not as its reward says`;
      findings.add('payout_differs', { message, about, expected, found });
    }
    if (!isByItsOwn) {
      findings.add('payout_by_other_transaction', {
        message: `sequence ${sequence} was paid by a transaction that its reward is not bound to`,
        about,
        expected: reward.transactionId,
        found: known?.transaction.id,
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
  const said = activity.distributed.reduce((sum, { total }) => sum + total, 0n);
  const sum = paid.reduce((amount, entry) => amount + entry.amount, 0n);
  if (said === sum && isInOrder(activity.transfers, paid)) return;
  const withdrawn = activity.movements.filter(({ kind }) => kind === 'withdrawal');
  const list = (transfers: { to: string; amount: bigint }[]) =>
    transfers
      .map(({ to, amount }) => `${amount}>${to}`)
      .sort()
      .join(' ');
  const expected = list([...paid, ...withdrawn.map(({ brandId, amount }) => ({ to: brandId, amount }))]);
  const found = list(activity.transfers);
  if (expected === found && said === sum) return;
  findings.add('payout_sum', {
    message: 'what left the escrow is not what it was told to pay',
    about: { transaction: activity.transactionHash, block: activity.blockNumber, said: String(said) },
    expected: expected.slice(0, SHOWN),
    found: found.slice(0, SHOWN),
  });
}

/** Whether the token moved what was paid and nothing else, in the order of the batch: so it is in all but odd transactions. */
const isInOrder = (transfers: EscrowActivity['transfers'], paid: readonly PayoutEntry[]) =>
  transfers.length === paid.length &&
  transfers.every(({ to, amount }, place) => paid[place]?.to === to && paid[place]?.amount === amount);

/** Characters of a list of transfers that help to find the transaction; the chain has the rest. */
const SHOWN = 500;

async function checkMovements({ findings, db, sums }: Audit, of: ActivityPage): Promise<void> {
  const rows = await movementsIn(db, of);
  for (const { kind, brandId, amount } of rows) {
    addTo(sums.moved, brandId, kind === 'withdrawal' ? -BigInt(amount) : BigInt(amount));
  }
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

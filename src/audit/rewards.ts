/** From the ledger to the chain: every reward that counts as paid has its bit in the escrow, and no other has one. */
import { type AuditedReward, auditedRewards, lastSequence } from '../ledger/audit-pages.ts';
import { type Audit, addTo } from './audit.ts';

const BITS = 256;
const WORDS_PER_PAGE = 8;

export async function verifyRewards(audit: Audit): Promise<void> {
  const { database, history, block } = audit;
  const last = await lastSequence(database.db);
  if (last === undefined) return;
  const words = Math.floor(last / BITS) + 1;
  for (let first = 0; first < words && !audit.stopped(); first += WORDS_PER_PAGE) {
    const indexes = Array.from(
      { length: Math.min(WORDS_PER_PAGE, words - first) },
      (_, place) => first + place,
    );
    const [rewards, flags] = await Promise.all([
      auditedRewards(database.db, { from: first * BITS, below: (first + WORDS_PER_PAGE) * BITS }),
      Promise.all(indexes.map((index) => history.paidWord(index, block))),
    ]);
    const unexplained = new Map(indexes.map((index, place) => [index, flags[place] ?? 0n]));
    for (const reward of rewards) {
      const index = Math.floor(reward.sequence / BITS);
      const bit = 1n << BigInt(reward.sequence % BITS);
      const flag = unexplained.get(index) ?? 0n;
      checkReward(audit, reward, (flag & bit) !== 0n);
      unexplained.set(index, flag & ~bit);
    }
    for (const [index, flag] of unexplained) reportUnknown(audit, index, flag);
  }
}

function checkReward({ findings, block, sums }: Audit, reward: AuditedReward, isPaid: boolean): void {
  findings.checked.rewards += 1;
  const { sequence, id, brandId, amount, status, outcome, blockNumber, failure, transactionId } = reward;
  const about = { sequence, reward: id, transaction: transactionId, block: blockNumber };
  if (reward.releasedAt === null) addTo(sums.unreleased, brandId, BigInt(amount));
  const isIncluded = (status === 'included' || status === 'final') && (blockNumber ?? block + 1) <= block;
  const isBookedPaid = isIncluded && outcome === 'done' && failure === null;
  if (isBookedPaid) addTo(sums.paid, brandId, BigInt(amount));
  if (isBookedPaid && !isPaid) {
    const message = `sequence ${sequence} counts as paid but is not paid on chain`;
    findings.add('missing_payout', { message, about, expected: 'paid', found: 'not paid' });
  }
  if (!isBookedPaid && isPaid) {
    findings.add('unbooked_payout', {
      message: `sequence ${sequence} is paid on chain but does not count as paid`,
      about,
      expected: failure ?? `${status ?? 'waiting'} ${outcome ?? ''}`.trim(),
      found: 'paid',
    });
  }
  if (transactionId !== null && status === null) {
    const message = `the reward of sequence ${sequence} names a transaction that the ledger does not have`;
    findings.add('unknown_transaction', { message, about, expected: transactionId });
  }
  if (reward.releasedAt === null && reward.claims === null) {
    const message = `the reward of sequence ${sequence} is not counted by any counter`;
    findings.add('reward_without_counter', { message, about });
  }
}

function reportUnknown({ findings, block }: Audit, index: number, flag: bigint): void {
  for (let bit = 0; bit < BITS && flag >> BigInt(bit) !== 0n; bit++) {
    if (((flag >> BigInt(bit)) & 1n) === 0n) continue;
    const sequence = index * BITS + bit;
    findings.add('payout_without_reward', {
      message: `sequence ${sequence} is paid on chain, but no reward has it`,
      about: { sequence, block },
      found: 'paid',
    });
  }
}

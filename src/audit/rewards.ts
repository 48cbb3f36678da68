/** From the ledger to the chain: every reward that counts as paid has its bit in the escrow, and no other has one. */
import { type AuditedReward, auditedRewards, lastSequence } from '../ledger/audit-pages.ts';
import { isOnBoards } from '../ledger/consumers/positions.ts';
import { eventKeyText } from '../ledger/rewards/claims.ts';
import { type Audit, addTo, isWhole } from './audit.ts';

const BITS = 256;
/** Rewards of a page are read in one statement, in a few milliseconds. */
const WORDS_PER_PAGE = 2;
/** Words that are asked for together: with a node far away, most of the time is waiting. */
const WORDS_ASKED = 32;

/** In a part, from the lowest sequence that its blocks paid. */
export async function verifyRewards(audit: Audit): Promise<void> {
  const { db, history, block, seen } = audit;
  const last = await lastSequence(db);
  const lowest = isWhole(audit) ? 0 : seen.lowestSequence;
  if (last === undefined || lowest === undefined) return;
  const words = Math.floor(last / BITS) + 1;
  for (let first = Math.floor(lowest / BITS); first < words && !audit.stopped(); first += WORDS_ASKED) {
    const indexes = Array.from({ length: Math.min(WORDS_ASKED, words - first) }, (_, place) => first + place);
    const flags = await Promise.all(indexes.map((index) => history.paidWord(index, block)));
    for (let from = 0; from < indexes.length; from += WORDS_PER_PAGE) {
      const page = new Map(
        indexes.slice(from, from + WORDS_PER_PAGE).map((index, place) => [index, flags[from + place] ?? 0n]),
      );
      await checkWords(audit, first + from, page);
      const done = Math.min(last + 1, (first + from + page.size) * BITS);
      audit.progress({ part: 'rewards', done, of: last + 1 });
      await audit.breathe();
    }
  }
}

/** Compares the rewards of neighbouring words of the bitmap with their flags. */
async function checkWords(audit: Audit, first: number, flags: Map<number, bigint>): Promise<void> {
  const below = (first + flags.size) * BITS;
  for (const reward of await auditedRewards(audit.db, { from: first * BITS, below })) {
    const index = Math.floor(reward.sequence / BITS);
    const bit = 1n << BigInt(reward.sequence % BITS);
    const flag = flags.get(index) ?? 0n;
    checkReward(audit, reward, (flag & bit) !== 0n);
    flags.set(index, flag & ~bit);
  }
  for (const [index, flag] of flags) reportUnknown(audit, index, flag);
}

function checkReward(
  { findings, block, sums, counted, onBoards, boards }: Audit,
  reward: AuditedReward,
  isPaid: boolean,
): void {
  findings.checked.rewards += 1;
  const { sequence, id, brandId, amount, status, outcome, blockNumber, failure, transactionId } = reward;
  const about = { sequence, reward: id, transaction: transactionId, block: blockNumber };
  if (reward.releasedAt === null) {
    addTo(sums.unreleased, brandId, BigInt(amount));
    const event = eventKeyText(reward);
    counted.set(event, (counted.get(event) ?? 0) + 1);
  }
  if (isOnBoards(boards, reward)) onBoards.set(brandId, (onBoards.get(brandId) ?? 0) + 1);
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

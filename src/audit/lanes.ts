/** Sending accounts: no nonce without its transaction, one payload under each, every hash and every inclusion true. */

import { readAttempt, signerOf } from '../chain/contracts/calls/read-attempt.ts';
import { attemptsOf, auditedTransactions, everySender, firstNonceSince } from '../ledger/audit-pages.ts';
import { acceptedNoncesOf } from '../ledger/transactions/accepted-nonces.ts';
import { isRetired } from '../ledger/transactions/lanes.ts';
import type { Transaction } from '../ledger/transactions/transactions.ts';
import { type Audit, isWhole } from './audit.ts';

const TRANSACTIONS_PER_PAGE = 50;

type Attempt = Awaited<ReturnType<typeof attemptsOf>>[number];
/** Whether the receipt of a transaction is to be asked for. */
type Asked = (one: Transaction) => boolean;

export async function verifyLanes(audit: Audit): Promise<void> {
  for (const { lane } of await everySender(audit.db)) {
    if (!audit.stopped()) await verifyLane(audit, lane);
  }
}

async function verifyLane(audit: Audit, lane: `0x${string}`): Promise<void> {
  const { db, history, findings, block, since } = audit;
  const chainNonce = await history.nonceAt(lane, block);
  const first = isWhole(audit) ? 0 : await firstNonceSince(db, { lane, block: since });
  if (first === undefined) return;
  let next: number | undefined;
  let firstOpen: number | undefined;
  let payouts = 0;
  const accepted = await acceptedNoncesOf(db, lane);
  /** The nonce behind those that others used and an operator accepted. */
  const behind = (nonce: number) =>
    accepted.reduce((next, one) => (one.fromNonce === next ? one.nextNonce : next), nonce);
  for await (const page of pagesOf(audit, lane, first)) {
    await checkPage(audit, page, (one) => !isPayout(audit, one));
    for (const { transaction } of page) {
      const { nonce } = transaction;
      if (next !== undefined) next = nonce === next ? next : behind(next);
      if (next !== undefined && nonce !== next) {
        const message = `${lane} has no transaction under nonce ${next}`;
        findings.add('nonce_gap', { message, about: { lane, nonce: next }, expected: next, found: nonce });
      }
      next = nonce + 1;
      if (isPayout(audit, transaction)) payouts += 1;
      if (!isIncluded(transaction, block) && !isLost(transaction)) firstOpen ??= nonce;
    }
  }
  // The logs have shown each payout where the ledger has it, or not all of them: only then are receipts asked for.
  if (payouts !== (audit.seen.inclusions.get(lane) ?? 0)) {
    for await (const page of pagesOf(audit, lane, first)) {
      const asked = page.filter(({ transaction }) => isPayout(audit, transaction));
      await Promise.all(asked.map((one) => checkInclusion(audit, one)));
    }
  }
  // Exactly the nonces below the chain's are in blocks.
  const expected = firstOpen ?? (next === undefined ? undefined : behind(next));
  // What somebody does with the key of a retired account is not ours.
  const isStranger = expected !== undefined && chainNonce > expected && (await isRetired(db, lane));
  if (!audit.stopped() && expected !== undefined && expected !== chainNonce && !isStranger) {
    findings.add('account_nonce', {
      message: `${lane} has used ${chainNonce} nonces on chain, ${expected} by the ledger`,
      about: { lane, block },
      expected,
      found: chainNonce,
    });
  }
}

interface Sent {
  transaction: Transaction;
  attempts: Attempt[];
}

/** A lane's transactions with their bytes, by nonce. */
async function* pagesOf(audit: Audit, lane: `0x${string}`, first: number): AsyncGenerator<Sent[]> {
  for (let fromNonce = first; !audit.stopped(); ) {
    const page = await auditedTransactions(audit.db, { lane, fromNonce, limit: TRANSACTIONS_PER_PAGE });
    const ids = page.map(({ id }) => id);
    const attempts = page.length === 0 ? [] : await attemptsOf(audit.db, ids);
    await audit.breathe();
    yield page.map((transaction) => ({
      transaction,
      attempts: attempts.filter(({ transactionId }) => transactionId === transaction.id),
    }));
    if (page.length < TRANSACTIONS_PER_PAGE) return;
    fromNonce = (page.at(-1)?.nonce ?? 0) + 1;
  }
}

/** Whether it paid rewards in a block whose logs were read. */
const isPayout = ({ block, since }: Audit, one: Transaction) =>
  one.purpose === 'payout' &&
  one.outcome === 'done' &&
  isIncluded(one, block) &&
  (one.blockNumber ?? 0) >= since;

const isIncluded = ({ status, blockNumber }: Transaction, block: number) =>
  (status === 'included' || status === 'final') && blockNumber !== null && blockNumber <= block;

/** A foreign transaction used its nonce in a final block: no block holds any of its attempts. */
const isLost = ({ status, blockNumber }: Transaction) => status === 'final' && blockNumber === null;

async function checkPage(audit: Audit, page: Sent[], isAsked: Asked): Promise<void> {
  const { findings } = audit;
  for (const { transaction, attempts } of page) {
    const { id, lane, nonce, hash } = transaction;
    findings.checked.transactions += 1;
    if (!attempts.some((attempt) => attempt.hash === hash)) {
      const message = `nonce ${nonce} of ${lane} is recorded under a hash that does not belong to any of its attempts`;
      findings.add('unknown_hash', { message, about: { lane, nonce, transaction: id }, found: hash });
    }
    await checkAttempts(audit, transaction, attempts);
  }
  await Promise.all(
    page.filter(({ transaction }) => isAsked(transaction)).map((one) => checkInclusion(audit, one)),
  );
  audit.progress({ part: 'transactions', done: findings.checked.transactions, of: undefined });
}

/** Asks the chain where a transaction is. */
async function checkInclusion(audit: Audit, { transaction: one, attempts }: Sent): Promise<void> {
  const { findings, history, block } = audit;
  const { id, lane, nonce, hash, blockHash, outcome } = one;
  const about = { lane, nonce, transaction: id };
  if (isLost(one)) {
    for (const { hash: tried } of attempts) {
      const found = (await history.inclusionOf(tried))?.blockHash;
      const message = `nonce ${nonce} of ${lane} counts as lost but is in a block`;
      if (found) findings.add('inclusion', { message, about: { ...about, hash: tried }, found });
    }
  }
  if (!isIncluded(one, block)) return;
  const inclusion = await history.inclusionOf(hash);
  const kind = attempts.find((attempt) => attempt.hash === hash)?.kind;
  const came = (succeeded: boolean) => (kind === 'noop' ? 'noop' : succeeded ? 'done' : 'reverted');
  const found = inclusion && `${came(inclusion.succeeded)} in ${inclusion.blockHash}`;
  const expected = `${outcome} in ${blockHash}`;
  if (found !== expected) {
    const message = `nonce ${nonce} of ${lane} is not on chain as the ledger says`;
    findings.add('inclusion', { message, about: { ...about, hash }, expected, found });
  }
}

/**
 * Reads every attempt's bytes. Who signed those in a block is for the chain to say: it took them, and it counts each under
 * the nonce of its signer, which is compared for the whole account. The signer of others is recovered.
 */
async function checkAttempts(audit: Audit, one: Transaction, attempts: Attempt[]): Promise<void> {
  const { findings, breathe, block } = audit;
  const { lane, nonce, id } = one;
  let payload: string | undefined;
  for (const { hash, raw, kind, attempt } of attempts) {
    const about = { lane, nonce, transaction: id, attempt, hash };
    const read = readAttempt(raw);
    await breathe();
    const account = lane.toLowerCase();
    const signer = isIncluded(one, block) && hash === one.hash ? account : await signerOf(raw);
    const expected = `${hash} nonce ${nonce} by ${account}`;
    const found = read && `${read.hash} nonce ${read.nonce} by ${signer}`;
    if (!read || found !== expected) {
      const message = `the bytes of attempt ${attempt} under nonce ${nonce} are not what their row says`;
      findings.add('attempt_bytes', { message, about, expected, found });
      continue;
    }
    const isSame = kind === 'noop' ? read.isEmpty : read.payload === (payload ?? read.payload);
    if (kind === 'payload') payload ??= read.payload;
    if (isSame) continue;
    findings.add('attempt_payload', {
      message: `two attempts under nonce ${nonce} of ${lane} do different things`,
      about,
      expected: payload?.slice(0, 200) ?? 'nothing',
      found: read.payload.slice(0, 200),
    });
  }
}

/** Sending accounts: no nonce without its transaction, one payload under each, every hash and every inclusion true. */

import { attemptsOf, auditedTransactions, everySender } from '../ledger/audit-pages.ts';
import type { Transaction } from '../ledger/transactions/transactions.ts';
import type { Audit } from './audit.ts';
import { readAttempt } from './read-attempt.ts';

const TRANSACTIONS_PER_PAGE = 50;

type Attempt = Awaited<ReturnType<typeof attemptsOf>>[number];

export async function verifyLanes(audit: Audit): Promise<void> {
  for (const { lane } of await everySender(audit.database.db)) {
    if (!audit.stopped()) await verifyLane(audit, lane);
  }
}

async function verifyLane(audit: Audit, lane: `0x${string}`): Promise<void> {
  const { database, history, findings, block } = audit;
  const chainNonce = await history.nonceAt(lane, block);
  let next: number | undefined;
  let firstOpen: number | undefined;
  while (!audit.stopped()) {
    const page = await auditedTransactions(database.db, {
      lane,
      fromNonce: next ?? 0,
      limit: TRANSACTIONS_PER_PAGE,
    });
    const attempts =
      page.length === 0
        ? []
        : await attemptsOf(
            database.db,
            page.map(({ id }) => id),
          );
    await Promise.all(
      page.map((one) =>
        checkTransaction(
          audit,
          one,
          attempts.filter(({ transactionId }) => transactionId === one.id),
        ),
      ),
    );
    for (const transaction of page) {
      const { nonce } = transaction;
      if (next !== undefined && nonce !== next) {
        const message = `${lane} has no transaction under nonce ${next}`;
        findings.add('nonce_gap', { message, about: { lane, nonce: next }, expected: next, found: nonce });
      }
      next = nonce + 1;
      if (!isIncluded(transaction, block) && !isLost(transaction)) firstOpen ??= nonce;
    }
    if (page.length < TRANSACTIONS_PER_PAGE) break;
  }
  // Exactly the nonces below the chain's are in blocks.
  const expected = firstOpen ?? next;
  if (!audit.stopped() && expected !== undefined && expected !== chainNonce) {
    findings.add('account_nonce', {
      message: `${lane} has used ${chainNonce} nonces on chain, ${expected} by the ledger`,
      about: { lane, block },
      expected,
      found: chainNonce,
    });
  }
}

const isIncluded = ({ status, blockNumber }: Transaction, block: number) =>
  (status === 'included' || status === 'final') && blockNumber !== null && blockNumber <= block;

/** A foreign transaction used its nonce in a final block: no block holds any of its attempts. */
const isLost = ({ status, blockNumber }: Transaction) => status === 'final' && blockNumber === null;

async function checkTransaction(audit: Audit, one: Transaction, attempts: Attempt[]): Promise<void> {
  const { findings, history, block } = audit;
  const { id, lane, nonce, hash, blockHash, outcome } = one;
  const about = { lane, nonce, transaction: id };
  findings.checked.transactions += 1;
  if (!attempts.some((attempt) => attempt.hash === hash)) {
    const message = `nonce ${nonce} of ${lane} is recorded under a hash that does not belong to any of its attempts`;
    findings.add('unknown_hash', { message, about, found: hash });
  }
  await checkAttempts(audit, one, attempts);
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

async function checkAttempts({ findings }: Audit, one: Transaction, attempts: Attempt[]): Promise<void> {
  const { lane, nonce, id } = one;
  let payload: string | undefined;
  for (const { hash, raw, kind, attempt } of attempts) {
    const about = { lane, nonce, transaction: id, attempt, hash };
    const read = await readAttempt(raw);
    const expected = `${hash} nonce ${nonce} by ${lane.toLowerCase()}`;
    const found = read && `${read.hash} nonce ${read.nonce} by ${read.signer}`;
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

/** The mint of a paid session against a real ledger, with a processor that answers what a test says, and two processes. */
import { describe, expect, test } from 'vitest';
import { createPaymentMinter, type MintDeps } from '../../src/actions/payments/mint-payment.ts';
import type { Database } from '../../src/ledger/database/database.ts';
import {
  attachSession,
  noteCheckout,
  planCheckout,
  recordDispute,
  recordRefund,
} from '../../src/ledger/payments/checkout-sessions.ts';
import { type MintProgress, readMint } from '../../src/ledger/payments/mints.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import type { ProcessorSession } from '../../src/payments/processor.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases.ts';

const NOW = Date.UTC(2030, 0, 1);

type Progress = Pick<MintProgress, 'hash' | 'status' | 'outcome' | 'failure'>;
const included = (): Progress => ({
  ...{ hash: freshHash(), status: 'included', outcome: 'done', failure: null },
});

/** A checkout that the ledger has planned, and its session, which is paid. */
async function paidSession(database: Database): Promise<ProcessorSession> {
  const wallet = freshAddress();
  const id = freshKey('checkout-');
  const sessionId = freshKey('cs_test_');
  await planCheckout(database.db, {
    ...{ id, brandId: wallet, userEmail: 'buyer@shop.example', wallet, amountCents: 2_500 },
    ...{ currency: 'usd', rwtAmount: 25_000, mintTo: 'wallet', livemode: false },
    ...{ createdAt: NOW, expiresAt: NOW + 86_400_000, nextLookAt: NOW },
  });
  await attachSession(database.db, {
    ...{ id, processorSessionId: sessionId, url: null, paymentStatus: 'unpaid' },
    ...{ expiresAt: NOW + 86_400_000, nextLookAt: NOW },
  });
  return {
    ...{ id: sessionId, checkoutId: id, url: null, status: 'complete', paymentStatus: 'paid' },
    ...{ paymentIntentId: freshKey('pi_'), amountTotal: 2_500, currency: 'usd', livemode: false },
    metadata: { wallet, usd_amount: '25', rwt_amount: '25000' },
    ...{ refundedAmount: 0, disputed: false, createdAtMs: NOW, expiresAtMs: NOW + 86_400_000 },
  };
}

/** One process: `findSession` may do what a test needs before it answers; the chain is as far as `progress` says. */
function minter(
  database: Database,
  of: {
    findSession: () => Promise<ProcessorSession | undefined>;
    progress?: Progress | undefined;
    log?: MintDeps['log'];
  },
) {
  return createPaymentMinter({
    database,
    processor: { findSession: of.findSession },
    mints: {
      nudge() {},
      async waitFor({ sessionId }) {
        const planned = await readMint(database.db, sessionId);
        return planned && of.progress && { ...planned, ...of.progress };
      },
    },
    clock: { now: () => NOW },
    log: of.log ?? { warn() {} },
    crash: neverCrash,
    settings: { answerTimeoutMs: 0, unattachedMs: 86_400_000 },
  });
}

onEveryDatabase((on) => {
  test('of 200 calls through two processes one plans the mint, and all name it', async () => {
    const { database, other } = on.kit();
    const session = await paidSession(database);
    const of = { findSession: async () => session, progress: included() };
    const [one, two] = [minter(database, of), minter(other, of)];
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? one : two)(session.id)),
    );
    const minted = outcomes.map((outcome) => ('minted' in outcome ? outcome.minted : undefined));
    expect(minted.filter((mint) => mint?.alreadyProcessed === false)).toHaveLength(1);
    expect(minted.filter((mint) => mint?.alreadyProcessed === true)).toHaveLength(199);
    expect(new Set(minted.map((mint) => mint?.transactionHash)).size).toBe(1);
    expect((await readMint(database.db, session.id))?.mint).toMatchObject({
      ...{ kind: 'wallet', wallet: session.metadata.wallet, usdCents: 2_500, rwtAmount: 25_000 },
    });
  });

  test.each(['refunded', 'disputed'])(
    'a payment that is %s after the processor was asked is seen before the commit',
    async (status) => {
      const { database, other } = on.kit();
      const session = await paidSession(database);
      const mint = minter(database, {
        async findSession() {
          const { id, paymentStatus } = session;
          const paymentIntentId = session.paymentIntentId ?? '';
          const noted = { processorSessionId: id, state: 'paid' as const, nextLookAt: null };
          await noteCheckout(other.db, { ...noted, paymentStatus, paymentIntentId });
          if (status === 'refunded') await recordRefund(other.db, { paymentIntentId, refundedCents: 1 });
          else await recordDispute(other.db, { paymentIntentId, disputedAt: NOW });
          return session;
        },
        progress: included(),
      });
      const refusal = { code: 'payment_not_completed', status };
      expect(await mint(session.id)).toEqual({ refusal });
      expect(await readMint(database.db, session.id)).toBeUndefined();
    },
  );
});

onEveryDatabase(
  (on) => {
    describe('the answer', () => {
      const hash = freshHash();
      test.each<[string, Progress | undefined, unknown]>([
        ['nothing is known', undefined, 'mint_pending'],
        [
          'no transaction is signed',
          { hash: null, status: null, outcome: null, failure: null },
          'mint_pending',
        ],
        [
          'it is signed and not sent',
          { hash, status: 'stored', outcome: null, failure: null },
          'mint_pending',
        ],
        ['nodes have it', { hash, status: 'sent', outcome: null, failure: null }, hash],
        ['a block has it', { hash, status: 'included', outcome: 'done', failure: null }, hash],
        ['it is final', { hash, status: 'final', outcome: 'done', failure: null }, hash],
        [
          'it had no effect, so that another follows',
          { hash, status: 'included', outcome: 'reverted', failure: null },
          'mint_pending',
        ],
        [
          'it was given up',
          { hash, status: 'final', outcome: 'reverted', failure: 'reverted' },
          'mint_failed',
        ],
      ])('when %s', async (_what, progress, expected) => {
        const { database } = on.kit();
        const session = await paidSession(database);
        const outcome = await minter(database, { findSession: async () => session, progress })(session.id);
        expect('minted' in outcome ? outcome.minted.transactionHash : outcome.refusal.code).toBe(expected);
      });
    });

    test('a paid session that is not what was planned is told to the operator, without what is in it', async () => {
      const { database } = on.kit();
      const session = await paidSession(database);
      const told: unknown[] = [];
      const mint = minter(database, {
        findSession: async () => ({ ...session, amountTotal: 1 }),
        log: { warn: (...said: unknown[]) => void told.push(said) },
      });
      expect(await mint(session.id)).toEqual({ refusal: { code: 'invalid_amount' } });
      const facts = { session: session.id, paymentIntent: session.paymentIntentId, why: 'invalid_amount' };
      expect(told).toEqual([[facts, 'a paid session mints nothing']]);
    });

    test('a session that is gone at the processor, or belongs to another checkout, is not found', async () => {
      const { database } = on.kit();
      const session = await paidSession(database);
      const refusal = { code: 'session_not_found' };
      const gone = minter(database, { findSession: async () => undefined });
      expect(await gone(session.id)).toEqual({ refusal });
      const other = minter(database, { findSession: async () => ({ ...session, checkoutId: 'other' }) });
      expect(await other(session.id)).toEqual({ refusal });
    });
  },
  { kinds: ['SQLite in memory'] },
);

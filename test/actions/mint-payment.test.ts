/** The mint of a paid session against a real ledger, with a processor that answers what a test says, and two processes. */
import { describe, expect, test } from 'vitest';
import {
  findCheckout,
  noteCheckout,
  recordDispute,
  recordRefund,
} from '../../src/ledger/payments/checkout-sessions.ts';
import { readMint } from '../../src/ledger/payments/mints.ts';
import { ProcessorFailure, type ProcessorSession } from '../../src/payments/processor.ts';
import { freshHash, onEveryDatabase } from '../kits/databases/databases.ts';
import { DAY_MS, included, minter, NOW, type Progress, paidSession } from './paid-sessions.ts';

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
      kind: 'wallet',
      wallet: session.metadata.wallet,
      usdCents: 2_500,
      rwtAmount: 25_000,
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
          const noted = { processorSessionId: id, state: 'paid' as const };
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

  test.each<[ProcessorSession['status'], string, object]>([
    ['open', 'unpaid', { state: 'open', nextLookAt: NOW }],
    ['complete', 'unpaid', { state: 'open', nextLookAt: NOW }],
    ['expired', 'unpaid', { state: 'expired', nextLookAt: null }],
    ['complete', 'paid', { state: 'paid', nextLookAt: null }],
  ])(
    'a session that is %s and %s is kept so, and looked at again only while it may be paid',
    async (status, paymentStatus, kept) => {
      const { database } = on.kit();
      const session = { ...(await paidSession(database)), status, paymentStatus };
      const told: unknown[] = [];
      const reached: string[] = [];
      const mint = minter(database, {
        findSession: async () => session,
        log: { warn: (...said: unknown[]) => void told.push(said) },
        crash: (point) => void reached.push(point),
      });
      const code = paymentStatus === 'paid' ? 'mint_pending' : 'payment_not_completed';
      expect(await mint(session.id)).toMatchObject({ refusal: { code } });
      const { paymentIntentId } = session;
      expect(await findCheckout(database.db, session.id)).toMatchObject({
        ...kept,
        paymentStatus,
        paymentIntentId,
      });
      // No one has to look: what is not paid mints nothing.
      expect(told).toEqual([]);
      expect(reached).toEqual(paymentStatus === 'paid' ? ['mint.before-commit', 'mint.committed'] : []);
    },
  );

  test('a session that was never noted is tied to its own checkout, for as long as it may be unknown', async () => {
    const { database } = on.kit();
    const refusal = { code: 'session_not_found' };
    const old = await paidSession(database, { isNoted: false, plannedAt: NOW - DAY_MS - 1 });
    let asked = 0;
    const of = (answer: ProcessorSession) => ({
      async findSession() {
        asked += 1;
        return answer;
      },
      progress: included(),
    });
    expect(await minter(database, of(old))(old.id)).toEqual({ refusal });
    expect(asked).toBe(0);
    const lost = await paidSession(database, { isNoted: false, plannedAt: NOW - DAY_MS });
    for (const checkoutId of [null, 'nobody'])
      expect(await minter(database, of({ ...lost, checkoutId }))(lost.id)).toEqual({ refusal });
    expect(asked).toBe(2);
    const url = 'https://pay.example/c/1';
    const expiresAtMs = NOW + 7;
    expect(await minter(database, of({ ...lost, url, expiresAtMs }))(lost.id)).toMatchObject({
      minted: { sessionId: lost.id },
    });
    expect(await findCheckout(database.db, lost.id)).toMatchObject({
      id: lost.checkoutId,
      url,
      expiresAt: expiresAtMs,
      state: 'paid',
    });
  });

  test('calls of one session at once share one question to the processor', async () => {
    const { database } = on.kit();
    const session = await paidSession(database);
    let asked = 0;
    const mint = minter(database, {
      async findSession() {
        asked += 1;
        return session;
      },
      progress: included(),
    });
    const outcomes = await Promise.all([mint(session.id), mint(session.id), mint(session.id)]);
    expect(outcomes).toMatchObject(
      [false, true, true].map((alreadyProcessed) => ({ minted: { alreadyProcessed } })),
    );
    expect(asked).toBe(1);
  });

  test('a session that was not paid is asked about again, and one that has its mint is not', async () => {
    const { database } = on.kit();
    const session = await paidSession(database);
    let [asked, paymentStatus] = [0, 'unpaid'];
    const mint = minter(database, {
      async findSession() {
        asked += 1;
        return { ...session, paymentStatus };
      },
      progress: included(),
    });
    expect(await mint(session.id)).toMatchObject({ refusal: { code: 'payment_not_completed' } });
    paymentStatus = 'paid';
    expect(await mint(session.id)).toMatchObject({ minted: { alreadyProcessed: false } });
    expect(await mint(session.id)).toMatchObject({ minted: { alreadyProcessed: true } });
    expect(asked).toBe(2);
  });

  test('a processor that is away is told to the operator and the caller; any other fault is thrown', async () => {
    const { database } = on.kit();
    const session = await paidSession(database);
    const told: unknown[] = [];
    const failing = (error: Error) =>
      minter(database, {
        findSession: () => Promise.reject(error),
        log: { warn: (...said: unknown[]) => void told.push(said) },
      })(session.id);
    const away = new ProcessorFailure('unavailable', 'rate_limit', 'too many requests');
    expect(await failing(away)).toEqual({ refusal: { code: 'processor_unavailable' } });
    const facts = { session: session.id, code: 'rate_limit', error: 'too many requests' };
    expect(told).toEqual([[facts, 'the processor tells nothing']]);
    const fault = new Error('a fault');
    await expect(failing(fault)).rejects.toBe(fault);
    expect(told).toHaveLength(1);
  });
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

/** Checkouts, the mints of paid sessions, and the processor's events, as both databases keep them. */
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Queries } from '../../src/ledger/database/database.ts';
import {
  attachSession,
  type CheckoutPlan,
  findCheckout,
  findCheckoutByPayment,
  findPlannedCheckout,
  hasCheckouts,
  noteCheckout,
  planCheckout,
  recordDispute,
  recordRefund,
} from '../../src/ledger/payments/checkout-sessions.ts';
import { claimLooks, hasUnattached, hintPaid, planNextLook } from '../../src/ledger/payments/due-looks.ts';
import {
  bindMint,
  giveUpMint,
  mintBacklog,
  settleMintQueue,
  waitingMints,
} from '../../src/ledger/payments/mint-queue.ts';
import {
  type MintPlan,
  planMint,
  readMint,
  readOperatorMints,
  recordMint,
} from '../../src/ledger/payments/mints.ts';
import { findProcessorEvent, recordProcessorEvent } from '../../src/ledger/payments/processor-events.ts';
import { adoptMint } from '../../src/ledger/recovery/adopt-queued.ts';
import { checkoutSessions } from '../../src/ledger/schema/payments.ts';
import { storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
const DAY_MS = 86_400_000;

const somePlan = (change: Partial<CheckoutPlan> = {}): CheckoutPlan => ({
  id: freshKey('checkout'),
  brandId: freshAddress(),
  userEmail: null,
  wallet: freshAddress(),
  amountCents: 500,
  currency: 'usd',
  rwtAmount: 5_000,
  mintTo: 'wallet',
  livemode: false,
  createdAt: NOW_MS,
  expiresAt: NOW_MS + DAY_MS,
  nextLookAt: null,
  ...change,
});
const someMint = (change: Partial<MintPlan> = {}): MintPlan => ({
  sessionId: freshKey('cs_test'),
  key: freshHash(),
  kind: 'wallet',
  brandId: freshAddress(),
  wallet: freshAddress(),
  usdCents: 500,
  rwtAmount: 5_000,
  paymentIntentId: freshKey('pi'),
  createdAt: NOW_MS,
  ...change,
});

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  const atomically = <T>(work: (tx: Queries) => Promise<T>) => kit().database.atomically(work);
  /** A checkout that the processor has, paid by `paymentIntentId`. */
  const somePaid = async () => {
    const plan = somePlan();
    const processorSessionId = freshKey('cs_test');
    const paymentIntentId = freshKey('pi');
    await planCheckout(db(), plan);
    const { id, expiresAt } = plan;
    const said = { url: 'https://pay.test/1', paymentStatus: 'unpaid', expiresAt, nextLookAt: null };
    expect(await attachSession(db(), { ...said, id, processorSessionId })).toBe(true);
    const paid = { state: 'paid', paymentStatus: 'paid', paymentIntentId } as const;
    expect(await noteCheckout(db(), { ...paid, processorSessionId })).toBe(true);
    return { id, processorSessionId, paymentIntentId };
  };

  describe('checkouts', () => {
    test('a checkout is planned once, and gets the session of the processor once', async () => {
      const plan = somePlan();
      const planned = await planCheckout(db(), plan);
      expect(planned).toEqual({
        isNew: true,
        session: {
          ...plan,
          state: 'creating',
          processorSessionId: null,
          url: null,
          paymentIntentId: null,
          paymentStatus: null,
          refundedCents: 0,
          disputedAt: null,
          openedFrom: null,
          hintedAt: null,
        },
      });
      expect(await planCheckout(db(), { ...plan, amountCents: 1 })).toEqual({ ...planned, isNew: false });
      const processorSessionId = freshKey('cs_test');
      expect(await findCheckout(db(), processorSessionId)).toBeUndefined();
      const said = {
        url: 'https://pay.test/1',
        paymentStatus: 'unpaid',
        expiresAt: NOW_MS,
        nextLookAt: NOW_MS,
      };
      const attached = { ...said, id: plan.id, processorSessionId };
      expect(await attachSession(db(), attached)).toBe(true);
      expect(await attachSession(db(), attached)).toBe(true);
      expect(await attachSession(db(), { ...attached, processorSessionId: 'cs_other' })).toBe(false);
      expect(await attachSession(db(), { ...attached, id: 'nobody' })).toBe(false);
      const open = await findCheckout(db(), processorSessionId);
      expect(open).toEqual({ ...planned.session, ...said, processorSessionId, state: 'open' });
      expect(await findPlannedCheckout(db(), plan.id)).toEqual(open);
    });

    test('whether a checkout was ever planned', async () => {
      await db().delete(checkoutSessions);
      expect(await hasCheckouts(db())).toBe(false);
      await planCheckout(db(), somePlan());
      expect(await hasCheckouts(db())).toBe(true);
    });

    test('a paid checkout stays paid, whatever the processor said before comes late', async () => {
      const { processorSessionId, paymentIntentId } = await somePaid();
      const late = { processorSessionId, paymentStatus: 'unpaid', paymentIntentId: null };
      expect(await noteCheckout(db(), { ...late, state: 'expired' })).toBe(true);
      expect(await findCheckout(db(), processorSessionId)).toMatchObject({
        state: 'paid',
        paymentStatus: 'paid',
        paymentIntentId,
        nextLookAt: null,
      });
      expect(await noteCheckout(db(), { ...late, processorSessionId: 'cs_x', state: 'paid' })).toBe(false);
    });

    test('what the processor says of one that is not paid is noted, and a payment that is known stays', async () => {
      const id = freshKey('checkout');
      const processorSessionId = freshKey('cs_test');
      await planCheckout(db(), somePlan({ id }));
      await attachSession(db(), {
        id,
        processorSessionId,
        url: 'https://pay.test/1',
        paymentStatus: 'unpaid',
        expiresAt: NOW_MS,
        nextLookAt: NOW_MS,
      });
      const said = { processorSessionId, paymentStatus: 'unpaid' };
      const paymentIntentId = freshKey('pi');
      expect(await noteCheckout(db(), { ...said, state: 'expired', paymentIntentId })).toBe(true);
      const now = () => findCheckout(db(), processorSessionId);
      expect(await now()).toMatchObject({ state: 'expired', paymentIntentId, nextLookAt: null });
      expect(await noteCheckout(db(), { ...said, state: 'open', paymentIntentId: null })).toBe(true);
      expect(await now()).toMatchObject({ state: 'open', paymentIntentId });
      // The processor may have made it before we could note its session.
      await db().update(checkoutSessions).set({ state: 'creating' }).where(eq(checkoutSessions.id, id));
      await noteCheckout(db(), { ...said, state: 'open', paymentIntentId: null });
      expect(await now()).toMatchObject({ state: 'open' });
      await noteCheckout(db(), { ...said, state: 'paid', paymentIntentId: null });
      expect(await now()).toMatchObject({ state: 'paid', paymentIntentId, nextLookAt: null });
    });

    test('a checkout without a session is known since a moment, while it is looked for', async () => {
      await db().delete(checkoutSessions);
      const since = (sinceMs: number) => hasUnattached(db(), { sinceMs });
      expect(await since(0)).toBe(false);
      const { id } = (await planCheckout(db(), somePlan({ nextLookAt: 5 }))).session;
      expect([await since(NOW_MS), await since(NOW_MS + 1)]).toEqual([true, false]);
      await planNextLook(db(), { id, claimedUntil: 5, nextLookAt: null });
      expect(await since(NOW_MS)).toBe(false);
    });

    test('the reconciler gets the checkouts whose time has come, the longest overdue first', async () => {
      const soon = NOW_MS - 10 * 365 * DAY_MS;
      const [late, first, never] = [3, 1, null].map((add) =>
        somePlan({ nextLookAt: add === null ? null : soon + add }),
      ) as [CheckoutPlan, CheckoutPlan, CheckoutPlan];
      for (const plan of [late, first, never]) await planCheckout(db(), plan);
      const due = async (nowMs: number) =>
        (await claimLooks(db(), { nowMs, limit: 10, claimMs: 100 })).map(({ id }) => id);
      expect(await due(soon)).toEqual([]);
      expect(await due(soon + 1)).toEqual([first.id]);
      // A claimed session is not given to another process; its holder says when it is due again.
      expect(await due(soon + 2)).toEqual([]);
      const claimedUntil = soon + 101;
      await planNextLook(db(), { id: first.id, claimedUntil: claimedUntil + 1, nextLookAt: soon });
      expect(await due(soon + 2)).toEqual([]);
      await planNextLook(db(), { id: first.id, claimedUntil, nextLookAt: soon + 2 });
      expect(await due(soon + 3)).toEqual([first.id, late.id]);
      // Those whose process ended come again.
      expect(await due(soon + 102)).toEqual([]);
      expect((await due(soon + 103)).sort()).toEqual([first.id, late.id].sort());
      for (const { id } of [first, late])
        await planNextLook(db(), { id, claimedUntil: soon + 203, nextLookAt: null });
      expect(await due(soon + 1_000)).toEqual([]);
    });

    test('what events call paid is due at once, the newest event first, once for each event', async () => {
      const soon = NOW_MS - 20 * 365 * DAY_MS;
      const overdue = somePlan({ nextLookAt: soon - 9 });
      await planCheckout(db(), overdue);
      const [older, newer] = [
        somePlan({ nextLookAt: soon + DAY_MS }),
        somePlan({ nextLookAt: soon + DAY_MS }),
      ];
      const sessions = new Map<string, string>();
      for (const plan of [older, newer]) {
        await planCheckout(db(), plan);
        const processorSessionId = freshKey('cs_test');
        sessions.set(plan.id, processorSessionId);
        const said = { url: null, paymentStatus: 'unpaid', expiresAt: NOW_MS, nextLookAt: plan.nextLookAt };
        await attachSession(db(), { ...said, id: plan.id, processorSessionId });
      }
      const hint = ({ id }: CheckoutPlan, atMs: number) => ({
        processorSessionId: sessions.get(id) ?? '',
        atMs,
      });
      const hints = [
        hint(newer, 5),
        hint(older, 3),
        hint(newer, 1),
        { processorSessionId: 'cs_other', atMs: 9 },
      ];
      expect(await hintPaid(db(), hints, soon)).toBe(2);
      expect(await hintPaid(db(), hints, soon)).toBe(0);
      const claim = async (limit: number) =>
        (await claimLooks(db(), { nowMs: soon, limit, claimMs: 100 })).map(({ id }) => id);
      expect(await claim(1)).toEqual([newer.id]);
      expect(await claim(5)).toEqual([older.id, overdue.id]);
      // A newer event makes it due though somebody is at it, and what that one plans does not undo it.
      expect(await hintPaid(db(), [hint(older, 4)], soon)).toBe(1);
      await planNextLook(db(), { id: older.id, claimedUntil: soon + 100, nextLookAt: soon + DAY_MS });
      expect(await claim(5)).toEqual([older.id]);
      for (const { id } of [older, newer, overdue])
        await planNextLook(db(), { id, claimedUntil: soon + 100, nextLookAt: null });
    });

    test('refunds add up as the processor says, disputes keep their first moment, in any order', async () => {
      const { id, paymentIntentId } = await somePaid();
      const refund = (refundedCents: number) =>
        atomically((tx) => recordRefund(tx, { paymentIntentId, refundedCents }));
      expect(await refund(200)).toMatchObject({ id, refundedCents: 200 });
      expect(await refund(500)).toMatchObject({ id, refundedCents: 500 });
      expect(await refund(200)).toMatchObject({ id, refundedCents: 500 });
      const dispute = (disputedAt: number) =>
        atomically((tx) => recordDispute(tx, { paymentIntentId, disputedAt }));
      expect(await dispute(NOW_MS + 5)).toMatchObject({ id, disputedAt: NOW_MS + 5 });
      expect(await dispute(NOW_MS + 9)).toMatchObject({ id, disputedAt: NOW_MS + 5 });
      expect(await findCheckoutByPayment(db(), paymentIntentId)).toMatchObject({ id, refundedCents: 500 });
      const unknown = { paymentIntentId: 'pi_nobody' };
      expect(await recordRefund(db(), { ...unknown, refundedCents: 1 })).toBeUndefined();
      expect(await recordDispute(db(), { ...unknown, disputedAt: 1 })).toBeUndefined();
    });
  });

  describe('mints', () => {
    test('50 callers at once, in two processes, plan one mint of a session', async () => {
      const { database, other } = kit();
      const plan = someMint();
      const planned = await Promise.all(
        Array.from({ length: 50 }, (_, caller) =>
          (caller % 2 ? database : other).atomically((tx) =>
            planMint(tx, { ...plan, createdAt: NOW_MS + caller }),
          ),
        ),
      );
      expect(planned.filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(new Set(planned.map(({ mint }) => mint.createdAt)).size).toBe(1);
      expect(await readMint(db(), plan.sessionId)).toEqual({
        mint: planned[0]?.mint,
        hash: null,
        status: null,
        outcome: null,
        blockNumber: null,
        failure: null,
      });
      expect(await readMint(db(), 'cs_nobody')).toBeUndefined();
    });

    test('a session whose mint was recovered as one by hand goes on with the transaction of that', async () => {
      const plan = someMint();
      const { key, kind, wallet, rwtAmount: amount } = plan;
      const mint = { key, kind, amount, recipient: wallet, reason: 'recovered', createdAt: NOW_MS };
      const transactionId = freshKey('transaction');
      await adoptMint(db(), { ...mint, transactionId });
      expect(await readOperatorMints(db(), [key])).toHaveLength(1);
      expect(await atomically((tx) => planMint(tx, plan))).toMatchObject({
        isNew: true,
        mint: { ...plan, transactionId },
      });
      expect(await readOperatorMints(db(), [key])).toEqual([]);
      const waiting = await waitingMints(db(), { now: kit().database.now, limit: 1_000 });
      expect(waiting.map((one) => one.key)).not.toContain(key);
      // What is no mint of this session is left alone.
      const other = someMint();
      await adoptMint(db(), { ...mint, key: other.key, amount: 1, transactionId: freshKey('transaction') });
      expect((await atomically((tx) => planMint(tx, other))).mint.transactionId).toBe(null);
    });

    test('two sessions never share a key on chain', async () => {
      const plan = someMint();
      await planMint(db(), plan);
      await expect(planMint(db(), { ...plan, sessionId: freshKey('cs_test') })).rejects.toThrow();
    });
  });

  describe('the queue of the mint lane', () => {
    /** A transaction that carried something and had no effect. */
    const someTransaction = async () => {
      const of = { id: freshKey('transaction'), lane: freshAddress(), nonce: 0, hash: freshHash() };
      const rest = { purpose: 'mint', epoch: 1, raw: '0x02c0', maxFeeWei: 1n, priorityFeeWei: 1n } as const;
      await atomically((tx) => storeTransaction(tx, { ...of, ...rest, createdAt: NOW_MS }));
      return of.id;
    };
    const keysOf = (waiting: { key: string }[]) => waiting.map(({ key }) => key);
    const ours = async (keys: string[]) =>
      keysOf(await waitingMints(db(), { now: kit().database.now, limit: 1_000 })).filter((key) =>
        keys.includes(key),
      );

    test('holds what is paid and what operators want, oldest first, with the account that gets it', async () => {
      const early = NOW_MS - 1_000 * DAY_MS;
      const backlog = await mintBacklog(db());
      const paid = someMint({ createdAt: early + 2 });
      const intoEscrow = someMint({ createdAt: early + 3, kind: 'escrow' });
      await planMint(db(), paid);
      await planMint(db(), intoEscrow);
      const byHand = {
        key: freshHash(),
        kind: 'wallet' as const,
        recipient: freshAddress(),
        amount: 7,
        reason: 'test',
        createdAt: early + 1,
      };
      await recordMint(db(), byHand);
      for (const kind of ['sale', 'direct'] as const)
        await recordMint(db(), { ...byHand, kind, key: freshHash() });
      expect(await waitingMints(db(), { now: kit().database.now, limit: 3 })).toEqual([
        { key: byHand.key, kind: 'wallet', recipient: byHand.recipient, amount: 7, createdAt: early + 1 },
        { key: paid.key, kind: 'wallet', recipient: paid.wallet, amount: 5_000, createdAt: early + 2 },
        {
          key: intoEscrow.key,
          kind: 'escrow',
          recipient: intoEscrow.brandId,
          amount: 5_000,
          createdAt: early + 3,
        },
      ]);
      const now = await mintBacklog(db());
      expect([now.waiting - backlog.waiting, now.oldestAt]).toEqual([3, early + 1]);
      for (const { key } of [byHand, paid, intoEscrow])
        await bindMint(db(), { key, transactionId: await someTransaction() });
      expect((await mintBacklog(db())).waiting).toBe(backlog.waiting);
    });

    test('a bound mint cannot be bound or given up; without effect it waits again, the fifth time it is given up', async () => {
      const plan = someMint();
      const { key } = plan;
      await planMint(db(), plan);
      for (let tries = 1; tries <= 5; tries++) {
        const transactionId = await someTransaction();
        await bindMint(db(), { key, transactionId });
        expect(await bindMint(db(), { key, transactionId })).toBe(false);
        expect(await giveUpMint(db(), { key, failure: 'ZeroAmount()' })).toBe(false);
        await settleMintQueue(db(), ['another', transactionId]);
        expect((await readMint(db(), plan.sessionId))?.mint).toMatchObject(
          tries < 5
            ? { transactionId: null, failedTries: tries, failure: null }
            : { transactionId, failedTries: 5, failure: 'reverted' },
        );
        expect(await ours([key])).toEqual(tries < 5 ? [key] : []);
      }
      await settleMintQueue(db(), []);
    });

    test('a mint that was given up waits no more and keeps its reason', async () => {
      const byHand = { key: freshHash(), kind: 'escrow' as const, recipient: freshAddress() };
      await recordMint(db(), { ...byHand, amount: 7, reason: 'test', createdAt: NOW_MS });
      const { key } = byHand;
      expect(await ours([key])).toEqual([key]);
      expect(await giveUpMint(db(), { key, failure: 'ZeroAmount()' })).toBe(true);
      expect(await giveUpMint(db(), { key, failure: 'later' })).toBe(false);
      expect(await ours([key])).toEqual([]);
      expect(await readOperatorMints(db(), [key])).toMatchObject([
        { key, failure: 'ZeroAmount()', hash: null },
      ]);
    });
  });

  test('an event of the processor is recorded once, whoever records it', async () => {
    const { database, other } = kit();
    const event = {
      id: freshKey('evt'),
      type: 'checkout.session.completed',
      objectId: freshKey('cs_test'),
      createdAt: NOW_MS,
      receivedAt: NOW_MS + 1,
      result: 'minted',
    };
    const recorded = await Promise.all(
      [database, other, database, other].map((one) =>
        one.atomically((tx) => recordProcessorEvent(tx, event)),
      ),
    );
    expect(recorded.filter(Boolean)).toEqual([true]);
    expect(await findProcessorEvent(db(), event.id)).toEqual(event);
    expect(await findProcessorEvent(db(), 'evt_nobody')).toBeUndefined();
  });
});

/** What an event of the processor leaves in the ledger, and when it may come again: with a real ledger and minter. */
import { expect, test } from 'vitest';
import { receiveProcessorEvent } from '../../src/actions/payments/receive-processor-event.ts';
import { findCheckout, findPlannedCheckout } from '../../src/ledger/payments/checkout-sessions.ts';
import { findProcessorEvent } from '../../src/ledger/payments/processor-events.ts';
import { type EventSubject, ProcessorFailure, type ProcessorSession } from '../../src/payments/processor.ts';
import { freshKey, onEveryDatabase } from '../kits/databases/databases.ts';
import { included, minter, NOW, type Progress, paidSession } from './paid-sessions.ts';

onEveryDatabase((on) => {
  /** One process that gets events of a session; `findSession` may fail. */
  async function receiver({
    progress = included(),
    findSession,
  }: {
    progress?: Progress | undefined;
    findSession?: (session: ProcessorSession) => Promise<ProcessorSession | undefined>;
  } = {}) {
    const { database } = on.kit();
    const session = await paidSession(database);
    const told: unknown[] = [];
    const answer = findSession ?? (async () => session);
    const mintPayment = minter(database, { findSession: () => answer(session), progress });
    const log = { warn: (...said: unknown[]) => void told.push(said) };
    const deps = { database, mintPayment, clock: { now: () => NOW + 5 }, log };
    const event = (about: EventSubject, id = freshKey('evt_')) => ({
      id,
      type: `a.${about.kind}`,
      createdAtMs: NOW - 3,
      livemode: false,
      objectId: 'object',
      about,
    });
    const paymentIntentId = session.paymentIntentId ?? '';
    return {
      database,
      session,
      told,
      event,
      mintPayment,
      receive: (one: ReturnType<typeof event>) => receiveProcessorEvent(deps, one),
      ofSession: () => event({ kind: 'session', sessionId: session.id, saysPaid: true }),
      refund: (refundedAmount: number) => event({ kind: 'refund', paymentIntentId, refundedAmount }),
      dispute: () => event({ kind: 'dispute', paymentIntentId, disputeId: 'dp_1' }),
      kept: async ({ id }: { id: string }) => (await findProcessorEvent(database.db, id))?.result,
    };
  }

  test('of a session is worked off with what became of it', async () => {
    const { session, receive, ofSession, kept, database } = await receiver();
    const one = ofSession();
    expect(await receive(one)).toMatchObject({ minted: { sessionId: session.id } });
    expect(await findProcessorEvent(database.db, one.id)).toEqual({
      id: one.id,
      type: 'a.session',
      objectId: 'object',
      result: 'minted',
      createdAt: NOW - 3,
      receivedAt: NOW + 5,
    });
    const unpaid = await receiver({ findSession: async (of) => ({ ...of, paymentStatus: 'unpaid' }) });
    const other = unpaid.ofSession();
    await unpaid.receive(other);
    expect(await kept(other)).toBe('payment_not_completed');
  });

  test.each<[string, Parameters<typeof receiver>[0]]>([
    [
      'processor_unavailable',
      { findSession: () => Promise.reject(new ProcessorFailure('unavailable', 'x', 'y')) },
    ],
    ['mint_pending', { progress: { hash: null, status: null, outcome: null, failure: null } }],
    ['session_not_found', { findSession: async () => undefined }],
  ])('of a session that is %s is not worked off: it comes again', async (code, of) => {
    const { receive, ofSession, kept } = await receiver(of);
    const one = ofSession();
    expect(await receive(one)).toMatchObject({ refusal: { code } });
    expect(await kept(one)).toBeUndefined();
  });

  test('of no interest is kept as ignored', async () => {
    const { receive, event, kept, told } = await receiver();
    const one = event({ kind: 'other' });
    expect(await receive(one)).toEqual({ ignored: true });
    expect(await kept(one)).toBe('ignored');
    expect(told).toEqual([]);
  });

  test('of money that went back from a payment that is not known stays unrecorded, until it is', async () => {
    const { receive, ofSession, refund, dispute, kept, told } = await receiver();
    const [one, two] = [refund(1), dispute()];
    for (const early of [one, two]) {
      expect(await receive(early)).toEqual({ ignored: true });
      expect(await kept(early)).toBeUndefined();
    }
    expect(told).toEqual([]);
    await receive(ofSession());
    expect(await receive(one)).toEqual({ recorded: 'refund', isNew: true });
    expect([await kept(one), await kept(two)]).toEqual(['recorded', undefined]);
  });

  test.each(['refund', 'dispute'] as const)('of a %s is recorded and told once', async (kind) => {
    const { receive, ofSession, refund, dispute, kept, told, session, database } = await receiver();
    await receive(ofSession());
    const one = kind === 'refund' ? refund(70) : dispute();
    expect(await receive(one)).toEqual({ recorded: kind, isNew: true });
    expect(await receive(one)).toEqual({ recorded: kind, isNew: false });
    expect(await kept(one)).toBe('recorded');
    const [refundedCents, disputedAt] = kind === 'refund' ? [70, null] : [0, NOW - 3];
    expect(await findCheckout(database.db, session.id)).toMatchObject({ refundedCents, disputedAt });
    const facts = {
      event: one.id,
      checkout: session.checkoutId,
      session: session.id,
      brandId: session.metadata.wallet,
      amountCents: 2_500,
      refundedCents,
      minted: true,
    };
    expect(told).toEqual([[facts, `a.${kind}: a payment went back, or is asked back`]]);
  });

  test('of two deliveries at once one records it, and the operator is told once whether anything was minted', async () => {
    const { receive, mintPayment, refund, told, session, database } = await receiver({
      findSession: async (of) => ({ ...of, refundedAmount: 1 }),
    });
    // What the processor says is kept, and nothing is minted.
    expect(await mintPayment(session.id)).toMatchObject({ refusal: { code: 'payment_not_completed' } });
    const one = refund(1);
    const outcomes = await Promise.all([receive(one), receive(one), receive(one)]);
    expect(outcomes.map((outcome) => 'isNew' in outcome && outcome.isNew).sort()).toEqual([
      false,
      false,
      true,
    ]);
    expect(told).toMatchObject([[{ event: one.id, minted: false }, expect.any(String)]]);
    expect(await findPlannedCheckout(database.db, session.checkoutId ?? '')).toMatchObject({
      refundedCents: 1,
    });
  });
});

/** Asks the processor about open checkouts, several at a time and at its rate, so that one that hangs holds up no other. */
import { type BusinessTime, type Database, readTime } from '../../ledger/database/database.ts';
import { type CheckoutSession, findCheckout } from '../../ledger/payments/checkout-sessions.ts';
import { claimLooks, planNextLook } from '../../ledger/payments/due-looks.ts';
import type { Clock } from '../../lib/clock.ts';
import { rootMessage } from '../../lib/failures/root-cause.ts';
import type { Log } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';
import { createTokenBucket } from '../../lib/token-bucket.ts';
import type { PaymentProcessor } from '../../payments/processor.ts';
import { type LookPauses, lookPauseMs } from '../../rules/payments/look-schedule.ts';
import { attachLost, type MintDeps, settlePayment } from './mint-payment.ts';

export interface LookDeps
  extends Omit<MintDeps, 'mints' | 'processor' | 'log' | 'settings' | 'mayAskUnknown'> {
  database: Database;
  businessTime: BusinessTime;
  /** A clock that never steps: the processor's rate is held by it. */
  realClock: Pick<Clock, 'now'>;
  processor: PaymentProcessor;
  mints: { nudge(): void };
  log: Log;
  settings: LookSettings & MintDeps['settings'];
}

export interface LookSettings {
  /** Between two looks at an open session. */
  lookPauses: LookPauses;
  /** The same once its page takes no payment: a bank's answer may take days. */
  lateLookEveryMs: number;
  /** After its page has closed, a session that is still open is given up. */
  lateLooksMs: number;
  /** Questions of one process at once. */
  looksAtOnce: number;
  /** Looks that one process begins in a second. */
  looksPerSecond: number;
  /** Between two looks while none is answered. */
  awayLookEveryMs: number;
  /** A look that its process did not end is due again after so long. */
  lookClaimMs: number;
  /** How much earlier than ours the processor's clock may date a session. */
  skewMs: number;
  /** How often the clock is looked at, in real time. */
  pollMs: number;
}

/** A loop; replicas may all look: each takes other checkouts, and everything that a look does is done once. */
export function createLooks(deps: LookDeps) {
  const { database, settings, log } = deps;
  const { looksAtOnce, looksPerSecond, lookClaimMs: claimMs } = settings;
  const rate = createTokenBucket({
    perSecond: looksPerSecond,
    burst: looksAtOnce,
    nowMs: deps.realClock.now,
  });
  const running = new Set<Promise<void>>();
  const failing = createFailingLooks(looksAtOnce);
  const away = createTokenBucket({
    perSecond: 1_000 / settings.awayLookEveryMs,
    burst: 1,
    nowMs: deps.realClock.now,
  });
  let [isSearching, isStopping] = [false, false];
  const begin = (work: () => Promise<void>) => {
    const promise = work()
      .catch((error: unknown) => {
        // What a stop cuts off is looked at after the next start.
        if (!isStopping) log.error({ error: rootMessage(error) }, 'a look at a payment failed');
      })
      .finally(() => {
        running.delete(promise);
        loop.nudge();
      });
    running.add(promise);
  };
  const loop = createLoop({
    name: 'payments',
    async turn(signal) {
      const free = looksAtOnce - running.size;
      const limit = rate.take(failing.isAway() ? Math.min(free, away.take(1)) : free);
      if (limit === 0) return 'idle';
      const nowMs = await readTime({ db: database.db, now: deps.businessTime() });
      const due = await claimLooks(database.db, { nowMs, limit, claimMs });
      rate.giveBack(limit - due.length);
      const lost = due.filter(({ processorSessionId }) => processorSessionId === null);
      for (const checkout of due)
        if (checkout.processorSessionId !== null) begin(() => lookAt(deps, checkout, { nowMs, failing }));
      // While a search is under way, others that are lost become due again.
      if (lost.length > 0 && !isSearching) {
        isSearching = true;
        begin(() =>
          findLost(deps, lost, nowMs).finally(() => {
            isSearching = false;
          }),
        );
      }
      return due.length === limit && !signal.aborted ? 'worked' : 'idle';
    },
    pauseMs: () => Math.min(settings.pollMs, rate.waitMs() || settings.pollMs),
    log,
  });
  return {
    start: loop.start,
    nudge: loop.nudge,
    /** Ends after the questions under way. */
    async stop() {
      isStopping = true;
      await loop.stop();
      await Promise.all(running);
    },
  };
}

interface FailingLooks {
  /** Failed looks at one checkout in a row, this one included. */
  failed(id: string): number;
  worked(id: string): void;
  /** Whether different checkouts failed one after the other, and none was answered in between. */
  isAway(): boolean;
}

/** Which checkouts the processor gave no answer about, and whether it answers at all. */
function createFailingLooks(awayAfter: number): FailingLooks {
  const failures = new Map<string, number>();
  const sinceAnswer = new Set<string>();
  /** Those that failed longest ago begin anew: more cannot be open for long. */
  const CHECKOUTS_MAX = 10_000;
  return {
    failed(id) {
      const count = (failures.get(id) ?? 0) + 1;
      failures.delete(id);
      failures.set(id, count);
      const [oldest] = failures.keys();
      if (failures.size > CHECKOUTS_MAX && oldest !== undefined) failures.delete(oldest);
      if (sinceAnswer.size < awayAfter) sinceAnswer.add(id);
      return count;
    },
    worked(id) {
      failures.delete(id);
      sinceAnswer.clear();
    },
    isAway: () => sinceAnswer.size >= awayAfter,
  };
}

async function lookAt(
  deps: LookDeps,
  checkout: CheckoutSession,
  { nowMs, failing }: { nowMs: number; failing: FailingLooks },
): Promise<void> {
  const { id, processorSessionId, nextLookAt: claimedUntil, expiresAt } = checkout;
  if (processorSessionId === null) return;
  const settled = await settlePayment(deps, processorSessionId);
  const isUnanswered = 'refusal' in settled && settled.refusal.code === 'processor_unavailable';
  const failures = isUnanswered ? failing.failed(id) : 0;
  if (!isUnanswered) failing.worked(id);
  // Paid or over, it is not looked at again.
  const { state, hintedAt } = (await findCheckout(deps.database.db, processorSessionId)) ?? checkout;
  if (state !== 'open') return;
  const { lookPauses: pauses, lateLookEveryMs, lateLooksMs } = deps.settings;
  const pauseMs =
    nowMs < expiresAt
      ? lookPauseMs({ createdAt: checkout.createdAt, hintedAt }, { nowMs, failures, pauses })
      : lateLookEveryMs;
  const isGivenUp = nowMs > expiresAt + lateLooksMs;
  await planNextLook(deps.database.db, { id, claimedUntil, nextLookAt: isGivenUp ? null : nowMs + pauseMs });
}

/** Looks for the sessions of checkouts that have none: our process may have ended before it noted them. */
async function findLost(deps: LookDeps, lost: CheckoutSession[], nowMs: number): Promise<void> {
  const { database, processor, settings } = deps;
  const waiting = new Map(lost.map((checkout) => [checkout.id, checkout]));
  const oldestMs = Math.min(...lost.map(({ createdAt }) => createdAt));
  for await (const session of processor.sessionsSince(oldestMs - settings.skewMs)) {
    if (session.checkoutId === null || !waiting.has(session.checkoutId)) continue;
    // Attached, it is due at once.
    if (await attachLost(deps, session)) waiting.delete(session.checkoutId);
    if (waiting.size === 0) return;
  }
  // A caller with an idempotency key may still come back and have it made.
  for (const checkout of waiting.values()) {
    const { id, nextLookAt: claimedUntil, expiresAt } = checkout;
    const pauseMs = lookPauseMs(checkout, { nowMs, failures: 0, pauses: settings.lookPauses });
    await planNextLook(database.db, {
      id,
      claimedUntil,
      nextLookAt: nowMs < expiresAt ? nowMs + pauseMs : null,
    });
  }
}

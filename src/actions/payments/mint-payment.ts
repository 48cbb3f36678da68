/** The mint of a paid session, once: asks the processor, decides, plans it in one commit, waits for its transaction. */
import { sessionMintKey } from '../../chain/contracts/sale-mint.ts';
import type { Database, Queries } from '../../ledger/database/database.ts';
import {
  attachSession,
  type CheckoutSession,
  findCheckout,
  findPlannedCheckout,
  noteCheckout,
} from '../../ledger/payments/checkout-sessions.ts';
import { hasUnattached } from '../../ledger/payments/due-looks.ts';
import { isMinted, type Mint, type MintProgress, planMint, readMint } from '../../ledger/payments/mints.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Crash } from '../../lib/crash-points.ts';
import type { Log } from '../../lib/log.ts';
import { type PaymentProcessor, ProcessorFailure, type ProcessorSession } from '../../payments/processor.ts';
import { checkSession, type PaymentRefusal } from '../../rules/payments/session-checks.ts';

export interface MintDeps {
  database: Database;
  processor: Pick<PaymentProcessor, 'findSession'>;
  /** The mint lane, and the board on which requests wait for it. */
  mints: {
    nudge(): void;
    waitFor(wait: { sessionId: string; timeoutMs: number }): Promise<MintProgress | undefined>;
  };
  clock: Pick<Clock, 'now'>;
  log: Pick<Log, 'warn'>;
  crash: Crash;
  settings: {
    /** The longest that a caller waits for the transaction, in real time. */
    answerTimeoutMs: number;
    /** For how long a session that was made at the processor may be unknown here. */
    unattachedMs: number;
  };
  /** Takes one of the questions that the processor is asked about sessions that are unknown here; false: none is left. */
  mayAskUnknown: () => boolean;
}

/** A mint with the transaction that carries it. */
export interface PaidMint extends Pick<Mint, 'sessionId' | 'wallet' | 'usdCents' | 'rwtAmount'> {
  paymentIntentId: string | null;
  transactionHash: `0x${string}`;
  /** Whether an earlier call planned it. */
  alreadyProcessed: boolean;
}

export type MintRefusal =
  | PaymentRefusal
  | { code: 'processor_unavailable' }
  | { code: 'mint_failed'; sessionId: string; reason: string }
  | { code: 'mint_pending'; sessionId: string };

export type MintOutcome = { minted: PaidMint } | { refusal: MintRefusal };

/**
 * Returns the function behind POST payment-mint. It may be called any number of times, also concurrently: one call plans
 * the mint, and every other call for that session is answered with the same mint as already processed. Concurrent calls for
 * a session in this process share one request to the processor.
 */
export function createPaymentMinter(deps: MintDeps) {
  const underWay = new Map<string, Promise<MintOutcome>>();
  return async function mintPayment(sessionId: string): Promise<MintOutcome> {
    const first = underWay.get(sessionId);
    if (first) return asLater(await first);
    const outcome = mintOnce(deps, sessionId).finally(() => underWay.delete(sessionId));
    underWay.set(sessionId, outcome);
    return outcome;
  };
}

const asLater = (outcome: MintOutcome): MintOutcome =>
  'minted' in outcome ? { minted: { ...outcome.minted, alreadyProcessed: true } } : outcome;

async function mintOnce(deps: MintDeps, sessionId: string): Promise<MintOutcome> {
  const known = await readMint(deps.database.db, sessionId);
  const planned = known ? { mint: known.mint, isNew: false } : await settlePayment(deps, sessionId);
  return 'refusal' in planned ? planned : waitForMint(deps, planned);
}

/**
 * Plans the mint of a session that is paid, and nudges the lane; says why there is none otherwise. Waits for no
 * transaction. The ledger's checkout is kept as the processor has it.
 */
export async function settlePayment(
  deps: Omit<MintDeps, 'mints' | 'mayAskUnknown'> & {
    mints: Pick<MintDeps['mints'], 'nudge'>;
    /** Absent where only sessions that are known are asked about. */
    mayAskUnknown?: MintDeps['mayAskUnknown'];
  },
  sessionId: string,
): Promise<{ mint: Mint; isNew: boolean } | { refusal: MintRefusal }> {
  const { database, processor, mints } = deps;
  try {
    // A stranger who guesses costs the processor nothing, or a few questions while a checkout waits for its session.
    const planned = await findCheckout(database.db, sessionId);
    if (!planned && !((await mayBeUnattached(deps)) && deps.mayAskUnknown?.()))
      return refused({ code: 'session_not_found' });
    const session = await processor.findSession(sessionId);
    const checkout = session && (planned ?? (await attachLost(deps, session)));
    if (!session || !checkout || session.checkoutId !== checkout.id)
      return refused({ code: 'session_not_found' });
    const settled = await database.atomically(async (tx) => {
      const outcome = await settle(deps, tx, { session, checkout });
      if ('mint' in outcome) deps.crash('mint.before-commit');
      return outcome;
    });
    if ('refusal' in settled) {
      warnOfPaid(deps, { session, refusal: settled.refusal });
      return settled;
    }
    deps.crash('mint.committed');
    mints.nudge();
    return settled;
  } catch (error) {
    if (!(error instanceof ProcessorFailure)) throw error;
    deps.log.warn(
      { session: sessionId, code: error.code, error: error.message },
      'the processor tells nothing',
    );
    return refused({ code: 'processor_unavailable' });
  }
}

const refused = (refusal: MintRefusal) => ({ refusal });

const mayBeUnattached = ({ database, clock, settings }: Pick<MintDeps, 'database' | 'clock' | 'settings'>) =>
  hasUnattached(database.db, { sinceMs: clock.now() - settings.unattachedMs });

/** Ties a session to the checkout that it was made for, where our process ended before it could. */
export async function attachLost(
  { database, clock }: Pick<MintDeps, 'database' | 'clock'>,
  session: ProcessorSession,
): Promise<CheckoutSession | undefined> {
  const plan =
    session.checkoutId === null ? undefined : await findPlannedCheckout(database.db, session.checkoutId);
  if (!plan) return undefined;
  const isAttached = await attachSession(database.db, {
    id: plan.id,
    processorSessionId: session.id,
    url: session.url,
    paymentStatus: session.paymentStatus,
    expiresAt: session.expiresAtMs,
    nextLookAt: clock.now(),
  });
  return isAttached ? plan : undefined;
}

/** In one commit: what the processor says, and the mint when that pays for one. */
async function settle(
  { clock }: Pick<MintDeps, 'clock'>,
  tx: Queries,
  of: { session: ProcessorSession; checkout: CheckoutSession },
): Promise<{ mint: Mint; isNew: boolean } | { refusal: PaymentRefusal }> {
  const { session } = of;
  const { id: sessionId, paymentStatus, paymentIntentId } = session;
  const isPaid = paymentStatus === 'paid';
  const isOver = session.status === 'expired';
  await noteCheckout(tx, {
    processorSessionId: sessionId,
    paymentStatus,
    paymentIntentId,
    state: isPaid ? 'paid' : isOver ? 'expired' : 'open',
  });
  // Read after the write that locks it, so that a refund is either seen here or sees the mint.
  const checkout = (await findCheckout(tx, sessionId)) ?? of.checkout;
  const planned = { ...checkout, disputed: checkout.disputedAt !== null };
  const checked = checkSession(session, planned);
  if ('refusal' in checked) return checked;
  return planMint(tx, {
    sessionId,
    key: sessionMintKey(sessionId),
    kind: checkout.mintTo,
    paymentIntentId,
    brandId: checkout.brandId,
    wallet: checkout.wallet,
    ...checked.mint,
    createdAt: clock.now(),
  });
}

/** Money came and nothing is minted for it: a person has to look. */
function warnOfPaid(
  { log }: Pick<MintDeps, 'log'>,
  { session, refusal }: { session: ProcessorSession; refusal: PaymentRefusal },
): void {
  if (session.paymentStatus !== 'paid') return;
  const facts = { session: session.id, paymentIntent: session.paymentIntentId, why: refusal.code };
  log.warn(facts, 'a paid session mints nothing');
}

/** Of a transaction that nodes have or a block shows to have minted; one without effect is followed by another. */
const hashOf = (progress: MintProgress): `0x${string}` | undefined =>
  progress.status === 'sent' || isMinted(progress) ? (progress.hash ?? undefined) : undefined;

async function waitForMint(
  { mints, settings }: MintDeps,
  { mint, isNew }: { mint: Mint; isNew: boolean },
): Promise<MintOutcome> {
  const { sessionId, wallet, usdCents, rwtAmount, paymentIntentId } = mint;
  const progress = await mints.waitFor({ sessionId, timeoutMs: settings.answerTimeoutMs });
  if (progress?.failure) return refused({ code: 'mint_failed', sessionId, reason: progress.failure });
  const transactionHash = progress && hashOf(progress);
  if (!transactionHash) return refused({ code: 'mint_pending', sessionId });
  const paid = { sessionId, wallet, usdCents, rwtAmount, paymentIntentId, transactionHash };
  return { minted: { ...paid, alreadyProcessed: !isNew } };
}

/** A checkout: planned in the ledger first, then made at the processor under our id, then tied together. */
import { domainsAbove } from '../../ledger/brands/brand-domains.ts';
import { findBrand } from '../../ledger/brands/brands.ts';
import { atMs, type Database } from '../../ledger/database/database.ts';
import {
  attachSession,
  type CheckoutPlan,
  type CheckoutSession,
  closeRefusedPlan,
  findPlannedCheckout,
  type OpenCheckoutLimits,
  planCheckout,
  type TooManyOpen,
  tooManyOpen,
} from '../../ledger/payments/checkout-sessions.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Crash } from '../../lib/crash-points.ts';
import type { Random } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { type PaymentProcessor, ProcessorFailure, type SessionRequest } from '../../payments/processor.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { isOwnPage, readReturnUrl } from '../../rules/payments/checkout-input.ts';
import { rwtForCents, usdText } from '../../rules/payments/conversion.ts';
import type { Effect } from '../answer-once.ts';

export interface CheckoutDeps {
  database: Database;
  processor: Pick<PaymentProcessor, 'createSession' | 'livemode'>;
  clock: Pick<Clock, 'now'>;
  random: Random;
  log: Pick<Log, 'warn'>;
  crash: Crash;
  settings: CheckoutSettings;
}

export interface CheckoutSettings {
  /** Whether buyers may be sent back to pages of this very machine. */
  loopbackReturns: boolean;
  /** From the planning on; as long as the processor's sessions. */
  lifetimeMs: number;
  /** When the reconciler first asks about a session: later than its event usually comes. */
  firstLookMs: number;
  /** Of callers without the brand's key; absent where addresses have no limits. */
  openCheckouts?: OpenCheckoutLimits | undefined;
}

/** Checked fields of the contract's Checkout session; URLs as `readReturnUrl` spells them. */
export interface WantedCheckout {
  brandId: BrandId;
  amountCents: number;
  currency: 'usd';
  userEmail: string;
  successUrl: string;
  cancelUrl: string;
  /** The address of a caller without the brand's key. */
  openedFrom?: string | undefined;
}

type CheckoutRefusal =
  | { code: 'brand_not_found'; brandId: string }
  | { code: 'invalid_event_data'; errors: string[] }
  | ({ code: 'too_many_open_checkouts' } & TooManyOpen)
  | { code: 'processor_unavailable' };

export type CheckoutOutcome = { url: string; sessionId: string } | { refusal: CheckoutRefusal };

/**
 * Contract: POST create-checkout. `effect`: the id of a request with an idempotency key. The same id always leads to
 * the same session, also when an earlier try was cut off between the processor's answer and our note of it.
 */
export async function createCheckout(
  deps: CheckoutDeps,
  wanted: WantedCheckout,
  effect?: Pick<Effect, 'id'>,
): Promise<CheckoutOutcome> {
  const { database, processor, clock, settings } = deps;
  const { brandId, amountCents, currency, userEmail } = wanted;
  const brand = await findBrand(database.db, brandId);
  if (!brand) return { refusal: { code: 'brand_not_found', brandId } };
  const errors = await foreignPages(deps, wanted, brand);
  if (errors.length > 0) return { refusal: { code: 'invalid_event_data', errors } };
  const nowMs = clock.now();
  const planned = await planWithin(deps, {
    brandId,
    amountCents,
    currency,
    userEmail,
    wallet: brandId,
    livemode: processor.livemode,
    id: effect?.id ?? deps.random.uuid(),
    rwtAmount: rwtForCents(amountCents),
    mintTo: brand.profile.mintTo,
    createdAt: nowMs,
    expiresAt: nowMs + settings.lifetimeMs,
    nextLookAt: nowMs + settings.firstLookMs,
    openedFrom: settings.openCheckouts ? (wanted.openedFrom ?? null) : null,
  });
  if ('refusal' in planned) return planned;
  const { session } = planned;
  const { url, processorSessionId } = session;
  if (url !== null && processorSessionId !== null) return { url, sessionId: processorSessionId };
  return atProcessor(deps, { wanted, session });
}

/** A plan that is there already counts as what it was. */
async function planWithin(
  { database, settings }: Pick<CheckoutDeps, 'database' | 'settings'>,
  plan: CheckoutPlan,
): Promise<{ session: CheckoutSession } | { refusal: CheckoutRefusal }> {
  const { brandId, createdAt: nowMs } = plan;
  const openedFrom = plan.openedFrom ?? null;
  const { openCheckouts: limits } = settings;
  if (openedFrom === null || !limits) return planCheckout(database.db, plan);
  return database.atomically(async (tx) => {
    const session = await findPlannedCheckout(tx, plan.id);
    if (session) return { session };
    const tooMany = await tooManyOpen(tx, { brandId, openedFrom, now: atMs(nowMs), nowMs, limits });
    if (tooMany) return { refusal: { code: 'too_many_open_checkouts' as const, ...tooMany } };
    return planCheckout(tx, plan);
  });
}

async function atProcessor(
  deps: CheckoutDeps,
  of: { wanted: WantedCheckout; session: CheckoutSession },
): Promise<CheckoutOutcome> {
  const { database, processor, log, settings } = deps;
  const { id } = of.session;
  try {
    const made = await processor.createSession(requestOf(of));
    deps.crash('checkout.made');
    if (made.url === null) throw new Error(`the processor's session ${made.id} has no page`);
    const attached = await attachSession(database.db, {
      id,
      processorSessionId: made.id,
      url: made.url,
      expiresAt: made.expiresAtMs,
      paymentStatus: made.paymentStatus,
      nextLookAt: deps.clock.now() + settings.firstLookMs,
    });
    if (!attached) throw new Error(`the checkout ${id} has another session than ${made.id}`);
    return { url: made.url, sessionId: made.id };
  } catch (error) {
    if (!(error instanceof ProcessorFailure)) throw error;
    // What it refuses once it refuses again: nobody looks for a session of it.
    if (error.kind === 'refused') await closeRefusedPlan(database.db, id);
    log.warn({ checkout: id, code: error.code, error: error.message }, 'the processor made no session');
    return { refusal: { code: 'processor_unavailable' } };
  }
}

/** Of the plan and the request alone: under one idempotency key the processor takes nothing else. */
const requestOf = (of: { wanted: WantedCheckout; session: CheckoutSession }): SessionRequest => {
  const { id, wallet, amountCents, currency, rwtAmount } = of.session;
  const { userEmail, successUrl, cancelUrl } = of.wanted;
  return {
    id,
    amount: amountCents,
    currency,
    userEmail,
    successUrl,
    cancelUrl,
    productName: `${rwtAmount} reward tokens (RWT)`,
    // Contract: Mint metadata.
    metadata: { wallet, usd_amount: usdText(amountCents), rwt_amount: String(rwtAmount) },
  };
};

/** An address that leads elsewhere would make our checkout a way to send buyers anywhere. */
async function foreignPages(
  { database, settings }: CheckoutDeps,
  { brandId, successUrl, cancelUrl }: WantedCheckout,
  { profile }: NonNullable<Awaited<ReturnType<typeof findBrand>>>,
): Promise<string[]> {
  const named = Object.entries({ successUrl, cancelUrl }).map(([field, text]) => ({
    field,
    page: readReturnUrl(text),
  }));
  const hosts = named.flatMap(({ page }) => page?.host ?? []);
  const others = (await domainsAbove(database.db, hosts)).filter((of) => of.brandId !== brandId);
  const context = {
    loopback: settings.loopbackReturns,
    otherDomains: others.map(({ domain }) => domain),
  };
  const domains = profile.domains.join(', ') || 'none is configured';
  return named
    .filter(({ page }) => !page || !isOwnPage(page, profile, context))
    .map(({ field }) => `${field}: must be an https address on a domain of the brand (${domains})`);
}

/** Sessions of a processor that answers what a test says, and the minter of one process on a real ledger. */
import { createPaymentMinter, type MintDeps } from '../../src/actions/payments/mint-payment.ts';
import type { Database } from '../../src/ledger/database/database.ts';
import { attachSession, planCheckout } from '../../src/ledger/payments/checkout-sessions.ts';
import { type MintProgress, readMint } from '../../src/ledger/payments/mints.ts';
import { type Crash, neverCrash } from '../../src/lib/crash-points.ts';
import type { ProcessorSession } from '../../src/payments/processor.ts';
import { freshAddress, freshHash, freshKey } from '../kits/databases/databases.ts';

export const NOW = Date.UTC(2030, 0, 1);

export type Progress = Pick<MintProgress, 'hash' | 'status' | 'outcome' | 'failure'>;
export const included = (): Progress => ({
  hash: freshHash(),
  status: 'included',
  outcome: 'done',
  failure: null,
});

export const DAY_MS = 86_400_000;

/** A checkout that the ledger has planned, and its session, which is paid; the ledger may not have noted it. */
export async function paidSession(
  database: Database,
  { plannedAt = NOW, isNoted = true } = {},
): Promise<ProcessorSession> {
  const wallet = freshAddress();
  const id = freshKey('checkout-');
  const sessionId = freshKey('cs_test_');
  await planCheckout(database.db, {
    id,
    brandId: wallet,
    userEmail: 'buyer@shop.example',
    wallet,
    amountCents: 2_500,
    currency: 'usd',
    rwtAmount: 25_000,
    mintTo: 'wallet',
    livemode: false,
    createdAt: plannedAt,
    expiresAt: NOW + DAY_MS,
    nextLookAt: NOW,
  });
  const noted = { expiresAt: NOW + DAY_MS, nextLookAt: NOW, paymentStatus: 'unpaid' };
  if (isNoted) await attachSession(database.db, { ...noted, id, processorSessionId: sessionId, url: null });
  return {
    id: sessionId,
    checkoutId: id,
    url: null,
    status: 'complete',
    paymentStatus: 'paid',
    paymentIntentId: freshKey('pi_'),
    amountTotal: 2_500,
    currency: 'usd',
    livemode: false,
    metadata: { wallet, usd_amount: '25', rwt_amount: '25000' },
    refundedAmount: 0,
    disputed: false,
    createdAtMs: NOW,
    expiresAtMs: NOW + DAY_MS,
  };
}

/** One process: `findSession` may do what a test needs before it answers; the chain is as far as `progress` says. */
export function minter(
  database: Database,
  of: {
    findSession: () => Promise<ProcessorSession | undefined>;
    progress?: Progress | undefined;
    log?: MintDeps['log'];
    crash?: Crash;
    mayAskUnknown?: () => boolean;
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
    crash: of.crash ?? neverCrash,
    settings: { answerTimeoutMs: 0, unattachedMs: DAY_MS },
    mayAskUnknown: of.mayAskUnknown ?? (() => true),
  });
}

/** The payments of one process: checkout, mint, the processor's events, and the looks for what no event told. */
import { createTokenBucket } from '../../lib/token-bucket.ts';
import type { PaymentProcessor, ProcessorEvent } from '../../payments/processor.ts';
import type { Effect } from '../answer-once.ts';
import {
  type CheckoutDeps,
  type CheckoutSettings,
  createCheckout,
  type WantedCheckout,
} from './create-checkout.ts';
import { createPaymentMinter, type MintDeps } from './mint-payment.ts';
import { receiveProcessorEvent } from './receive-processor-event.ts';
import { createReconciler, type ReconcileDeps, type ReconcileSettings } from './reconcile-payments.ts';

export type Payments = ReturnType<typeof createPayments>;

/** `reconciler` is a loop that is not started. */
export function createPayments(
  deps: Omit<
    CheckoutDeps & MintDeps & ReconcileDeps,
    'receive' | 'settings' | 'processor' | 'mayAskUnknown'
  > & {
    processor: PaymentProcessor;
    mints: MintDeps['mints'];
    settings: CheckoutSettings &
      MintDeps['settings'] &
      ReconcileSettings & {
        /** Questions a minute about sessions that the ledger does not know, whoever asks. */
        unknownAsksPerMinute: number;
      };
  },
) {
  const { unknownAsksPerMinute } = deps.settings;
  const unknown = createTokenBucket({
    perSecond: unknownAsksPerMinute / 60,
    burst: unknownAsksPerMinute,
    nowMs: deps.realClock.now,
  });
  const mintPayment = createPaymentMinter({ ...deps, mayAskUnknown: () => unknown.take(1) === 1 });
  const receive = (event: ProcessorEvent) => receiveProcessorEvent({ ...deps, mintPayment }, event);
  return {
    createCheckout: (wanted: WantedCheckout, effect?: Effect) => createCheckout(deps, wanted, effect),
    mintPayment,
    readEvent: deps.processor.readEvent,
    receiveEvent: receive,
    reconciler: createReconciler({ ...deps, receive }),
  };
}

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
import { createLooks, type LookDeps, type LookSettings } from './look-at-sessions.ts';
import { createPaymentMinter, type MintDeps } from './mint-payment.ts';
import {
  createEventReader,
  type EventReaderDeps,
  type EventReaderSettings,
} from './read-processor-events.ts';
import { receiveProcessorEvent } from './receive-processor-event.ts';

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

// Finds what no event told: sessions that were paid, sessions that the processor made and this ledger never noted, and
// refunds and disputes. Looks by the ledger's time.

interface ReconcileDeps
  extends Omit<LookDeps, 'settings'>,
    Omit<EventReaderDeps, 'settings' | 'onHinted' | 'processor'> {
  processor: PaymentProcessor;
  /** `receive-processor-event.ts` with its deps bound. */
  receive: (event: ProcessorEvent) => Promise<unknown>;
  settings: ReconcileSettings & LookDeps['settings'];
}

export type ReconcileSettings = LookSettings & EventReaderSettings;

/** Two loops: one reads the processor's events, the other asks about sessions, those first that events call paid. */
export function createReconciler(deps: ReconcileDeps) {
  const looks = createLooks(deps);
  const events = createEventReader({ ...deps, onHinted: looks.nudge });
  return {
    start() {
      events.start();
      looks.start();
    },
    /** Something may be due: for whoever moves the clock. */
    nudge() {
      events.nudge();
      looks.nudge();
    },
    async stop() {
      await Promise.all([events.stop(), looks.stop()]);
    },
  };
}

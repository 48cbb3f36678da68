/**
 * Finds what no event told: sessions that were paid, sessions that the processor made and this ledger never noted, and
 * refunds and disputes. Looks by the ledger's time.
 */
import type { PaymentProcessor, ProcessorEvent } from '../../payments/processor.ts';
import { createLooks, type LookDeps, type LookSettings } from './look-at-sessions.ts';
import {
  createEventReader,
  type EventReaderDeps,
  type EventReaderSettings,
} from './read-processor-events.ts';

export interface ReconcileDeps
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

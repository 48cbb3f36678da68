/** Lets requests wait for the redemption of a perk. */
import type { Database } from '../../ledger/database/database.ts';
import {
  isRedeemed,
  isWithoutEffect,
  type RedemptionProgress,
  readRedemptions,
} from '../../ledger/perks/redemptions.ts';
import type { Log } from '../../lib/log.ts';
import { createLedgerLooks, createWaiters } from './waiters.ts';

export interface RedemptionWaiters {
  /** Blocks were read that may hold redemptions, or a redemption was given up. */
  look(): void;
  /**
   * Resolves when a block shows the redemption, or that its transaction did nothing, or when it was given up
   * (`failure`); or with how far it has come when `timeoutMs` of real time have passed. Undefined when it does not exist.
   */
  waitFor(wait: { id: string; timeoutMs: number }): Promise<RedemptionProgress | undefined>;
  isAwaited(): boolean;
  stop(): void;
}

/** One per process. */
export function createRedemptionWaiters(deps: {
  database: Database;
  log: Log;
  pollMs: number;
}): RedemptionWaiters {
  const waiters = createWaiters<string, RedemptionProgress>(
    (ids) => readRedemptions(deps.database.db, ids),
    ({ redemption }) => redemption.id,
    (progress) => progress.failure !== null || isRedeemed(progress) || isWithoutEffect(progress),
  );
  const looks = createLedgerLooks({
    what: 'waiting redemptions',
    ask: waiters.look,
    isAwaited: waiters.isAwaited,
    pollMs: deps.pollMs,
    log: deps.log,
  });
  return {
    look: looks.look,
    waitFor: ({ id, timeoutMs }) => waiters.waitFor(id, timeoutMs),
    isAwaited: waiters.isAwaited,
    stop: looks.stop,
  };
}

/** Puts the control of the emulator's clock together: what moves it, what it meets, and what it can be moved to. */
import type { RelayOverrides } from '../../compose/config.ts';
import { settings } from '../../compose/config.ts';
import type { ControlClockDeps } from '../../http/control/clock.ts';
import type { TokenIssuer } from '../../identity/tokens.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { AdjustableClock } from '../../lib/clock.ts';
import { emulatorLimits } from '../limits.ts';
import { keepClock } from '../state/restore-clock.ts';
import { ledgerLimits } from './clock-limits.ts';
import { processorWork, webhookWork } from './clock-work.ts';
import { type ConditionDeps, momentOf } from './conditions.ts';
import type { ClockLimit } from './due-items.ts';
import { rememberTokens } from './issued-tokens.ts';
import { createClockMoves } from './move-clock.ts';

interface ClockControlDeps extends Pick<ConditionDeps, 'processor'> {
  database: Database;
  clock: AdjustableClock;
  issuer: TokenIssuer;
  /** Of the demo site. */
  sessionEnds: ClockLimit;
  nudgeWebhooks: () => void;
  caughtUp: () => Promise<void>;
  /** Makes the chain's time follow a move of the service's clock. */
  syncChain: () => Promise<void>;
}

/** The clock's control, and the issuer of tokens whose ends it knows. */
export function createClockControl(
  deps: ClockControlDeps,
  config: { ownDomain: string; duplicateWindowMs: number; relay?: RelayOverrides | undefined },
): ControlClockDeps & { issuer: TokenIssuer } {
  const { database, clock } = deps;
  const tokens = rememberTokens(deps.issuer, emulatorLimits.clockMoves);
  const windows = windowLengths(config.relay);
  const conditionSettings = {
    ownDomain: config.ownDomain,
    duplicateWindowMs: config.duplicateWindowMs,
    windows,
    tokenToleranceMs: settings.identity.tokens.toleranceMs,
  };
  const moves = createClockMoves(
    {
      clock,
      work: [webhookWork(deps, deps.nudgeWebhooks), processorWork(deps)],
      limits: [
        ...ledgerLimits(deps, { ...emulatorLimits.clockMoves, ...config, windows }),
        tokens.ends,
        deps.sessionEnds,
      ],
      async follow() {
        await keepClock(database, clock);
        await deps.syncChain();
      },
    },
    emulatorLimits.clockMoves,
  );
  return {
    issuer: tokens.issuer,
    clock: {
      ...moves,
      state: clock.state,
      momentOf: (condition, { brand }) =>
        momentOf({ ...deps, tokens }, conditionSettings, { condition, brand }),
    },
  };
}

/** Every limit that counts in windows, under the name that its windows have in the ledger. */
function windowLengths(relay: RelayOverrides = {}): Record<string, number> {
  const { userLimit, addressLimit } = { ...settings.relayHost, ...relay };
  const { windowMs } = settings.pregenerate;
  return {
    [userLimit.scope]: userLimit.windowMs,
    [addressLimit.scope]: addressLimit.windowMs,
    pregenerate: windowMs,
    'pregenerate with key': windowMs,
  };
}

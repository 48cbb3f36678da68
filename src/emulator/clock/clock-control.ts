/** Puts the control of the emulator's clock together: what moves it, what it meets, and what it can be moved to. */
import { type RelayOverrides, settings } from '../../compose/config.ts';
import type { ControlClockDeps } from '../../http/control/clock.ts';
import type { TokenIssuer } from '../../identity/tokens.ts';
import type { Database } from '../../ledger/database/database.ts';
import { upcomingDeliveries, upcomingObjects } from '../../ledger/emulator/processor.ts';
import { scheduledAttempts } from '../../ledger/webhooks/delivery-log.ts';
import type { AdjustableClock } from '../../lib/clock.ts';
import { emulatorLimits } from '../limits.ts';
import { ledgerLimits } from './clock-limits.ts';
import { type ConditionDeps, momentOf } from './conditions.ts';
import { rememberTokens } from './issued-tokens.ts';
import { type ClockLimit, type ClockWork, createClockMoves, type DueItem } from './move-clock.ts';
import { keepClock } from './stack-clock.ts';

interface WebhookWorkDeps {
  database: Database;
  /** What brands are told of the blocks so far is queued. */
  caughtUp: () => Promise<void>;
}

/** What works by the emulator's clock: the deliveries of webhooks, and the emulated payment processor. */
const webhookWork = ({ database: { db }, caughtUp }: WebhookWorkDeps, nudge: () => void): ClockWork => ({
  async upcoming(range) {
    await caughtUp();
    return (await scheduledAttempts(db, range)).map(({ atMs, eventId, type, url, attempts }) => ({
      atMs,
      kind: 'webhook-retry',
      id: eventId,
      what: `attempt ${attempts + 1} of ${type} to ${placeOf(url)}`,
    }));
  },
  isDone: async (passed) => (await scheduledAttempts(db, { ...passed, limit: 1 })).length === 0,
  nudge,
});

/** It hears of each move of the clock by itself. */
const processorWork = ({ database: { db } }: { database: Database }): ClockWork => ({
  async upcoming(range) {
    const objects = await upcomingObjects(db, range);
    const deliveries = await upcomingDeliveries(db, range);
    return [
      ...objects.map(({ id, dueAt, body }): DueItem => {
        const expires = body.status === 'open';
        return {
          atMs: dueAt ?? 0,
          id,
          kind: expires ? 'checkout-expiry' : 'payment-arrival',
          what: expires ? 'the checkout session expires' : 'the payment of a checkout session is decided',
        };
      }),
      ...deliveries.map(
        ({ eventId, nextAt, attempts }): DueItem => ({
          atMs: nextAt ?? 0,
          kind: 'processor-retry',
          id: eventId,
          what: `attempt ${attempts.length + 1} of an event of the payment processor`,
        }),
      ),
    ];
  },
  async isDone(passed) {
    const range = { ...passed, limit: 1 };
    const [objects, deliveries] = [await upcomingObjects(db, range), await upcomingDeliveries(db, range)];
    return objects.length === 0 && deliveries.length === 0;
  },
  nudge() {},
});

/** A receiver without what its address may keep secret: user, password and query. */
const placeOf = (url: string) => (URL.canParse(url) ? `${new URL(url).origin}${new URL(url).pathname}` : url);

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
        momentOf({ ...deps, tokens, due: moves.due }, conditionSettings, { condition, brand }),
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

/** Reports what happens now and what needs a look: what waits, lanes, budgets, alarms. Cheap enough for a live view. */
import { type Alarm, remedies } from '../chain/alarms.ts';
import { brandsWithLeast, sumFunds } from '../ledger/brands/brand-configuration.ts';
import { handedOut } from '../ledger/counters.ts';
import { type Database, type Queries, readTime } from '../ledger/database/database.ts';
import { mintBacklog } from '../ledger/payments/mint-queue.ts';
import { termsBacklog } from '../ledger/perks/perk-terms.ts';
import { redemptionBacklog } from '../ledger/perks/redemption-queue.ts';
import { relayBacklog } from '../ledger/relay/queued-relays.ts';
import { readSpending } from '../ledger/rewards/spending.ts';
import { type Backlog, everyLane, openTransactions, waitingBacklog } from '../ledger/transactions/backlog.ts';
import { webhookBacklog } from '../ledger/webhooks/due-deliveries.ts';
import { spendLimits } from '../rules/events/spend-limit.ts';

export interface OverviewDeps {
  database: Database;
  /** Milliseconds since 1970, by the clock that rewards and webhooks go by. */
  nowMs: () => number;
  /** The same moment, as the database's queries have it. */
  businessTime: () => Parameters<typeof webhookBacklog>[1];
  /** The alarms of this process; absent where only the ledger is there. */
  alarms?: (() => Alarm[]) | undefined;
}

/** More than a screen shows; the answer says how many are left out. */
const LISTED_MAX = 20;

/** All but the clock and the log of requests. */
export async function reportOverview(deps: OverviewDeps) {
  const { db } = deps.database;
  const nowMs = deps.nowMs();
  const funds = await sumFunds(db);
  const lanes = await readLanes(deps.database);
  const brands = await readBudgets(db, nowMs);
  return {
    waiting: await readWaiting(deps, nowMs),
    lanes: lanes.slice(0, LISTED_MAX),
    lanesMore: Math.max(0, lanes.length - LISTED_MAX),
    brands,
    brandsMore: funds.brands - brands.length,
    totals: {
      rewards: await handedOut(db, 'reward_sequence'),
      rwtRewarded: funds.promised,
      rwtDeposited: funds.deposited,
    },
    alarms: deps.alarms ? shownAlarms(deps.alarms()) : null,
  };
}

const instant = (ms: number) => new Date(ms).toISOString();

/** Alarms as answers have them, each with its remedy. */
export const shownAlarms = (alarms: readonly Alarm[]) =>
  alarms.map(({ sinceMs, ...alarm }) => ({
    ...alarm,
    since: instant(sinceMs),
    remedy: remedies[alarm.code],
  }));

async function readWaiting({ database, businessTime }: OverviewDeps, nowMs: number) {
  const { db } = database;
  const ageMs = ({ waiting, oldestAt }: Backlog) => ({
    count: waiting,
    oldestMs: oldestAt === undefined ? null : Math.max(0, nowMs - oldestAt),
  });
  const webhooks = await webhookBacklog(db, businessTime());
  return {
    payouts: ageMs(await waitingBacklog(db)),
    mints: ageMs(await mintBacklog(db)),
    relays: ageMs(await relayBacklog(db)),
    perks: ageMs(together(await redemptionBacklog(db), await termsBacklog(db))),
    webhooks: { count: webhooks.waiting, oldestMs: webhooks.waiting > 0 ? webhooks.overdueMs : null },
  };
}

function together(one: Backlog, other: Backlog): Backlog {
  const times = [one.oldestAt, other.oldestAt].filter((at) => at !== undefined);
  return {
    waiting: one.waiting + other.waiting,
    oldestAt: times.length === 0 ? undefined : Math.min(...times),
  };
}

/** The busiest first, then those that a process holds. */
async function readLanes(database: Database) {
  const { db } = database;
  const open = await openTransactions(db);
  // Leases go by the database's own clock, which no developer moves.
  const machineMs = await readTime(database);
  const lanes = (await everyLane(db)).map(({ address, purpose, owner, leaseUntil }) => {
    const own = open.filter(({ lane }) => lane.toLowerCase() === address.toLowerCase());
    const sum = (all: typeof own) => all.reduce((total, { count }) => total + count, 0);
    const held = leaseUntil > machineMs;
    return {
      address,
      purpose,
      inFlight: sum(own.filter(({ status }) => status !== 'included')),
      notFinal: sum(own),
      holder: held ? owner : null,
      leaseMs: held ? leaseUntil - machineMs : null,
    };
  });
  const rank = ({ inFlight, holder }: (typeof lanes)[number]) => inFlight * 2 + (holder === null ? 0 : 1);
  return lanes.sort((a, b) => rank(b) - rank(a));
}

async function readBudgets(db: Queries, nowMs: number) {
  const brands = (await brandsWithLeast(db, LISTED_MAX)).map(({ profile, ...brand }) => ({
    ...brand,
    limits: spendLimits(profile),
  }));
  const spending = await readSpending(db, { brands, nowMs });
  return brands.map(({ limits: _, ...brand }) => ({
    ...brand,
    available: brand.deposited - brand.promised,
    spending: (spending.get(brand.brandId) ?? []).map(({ endsAtMs, ...window }) => ({
      ...window,
      endsAt: instant(endsAtMs),
    })),
  }));
}

/** Production's metrics, for Prometheus. Labels hold codes and addresses of our own, never users. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import manifest from '../../package.json' with { type: 'json' };
import type { VerifyReport } from '../audit/report.ts';
import { type Alarms, alarmCodes } from '../chain/alarms.ts';
import { payoutsIn } from '../chain/contracts/calls/read-attempt.ts';
import type { Reading } from '../chain/indexer/types.ts';
import type { ChainClient } from '../chain/rpc/client.ts';
import type { RpcRequest } from '../chain/rpc/rpc-pool.ts';
import type { MeasuredRequest } from '../http/frame/measured.ts';
import type { RequestTrace } from '../http/frame/request-record.ts';
import { listBrands } from '../ledger/brands/brands.ts';
import { feedHead } from '../ledger/consumers/feed.ts';
import { readPositions } from '../ledger/consumers/positions.ts';
import type { Connections, Database, Queries } from '../ledger/database/database.ts';
import { mintBacklog } from '../ledger/payments/mint-queue.ts';
import { redemptionBacklog } from '../ledger/perks/redemption-queue.ts';
import { readSpending } from '../ledger/rewards/spending.ts';
import type { LanePurpose } from '../ledger/schema/transactions.ts';
import {
  everyLane,
  newestFollowed,
  openLanes,
  openTransactions,
  payoutsInFlight,
  waitingBacklog,
} from '../ledger/transactions/backlog.ts';
import { nextNonce } from '../ledger/transactions/transactions.ts';
import { webhookBacklog } from '../ledger/webhooks/due-deliveries.ts';
import { spendLimits } from '../rules/events/spend-limit.ts';
import { IN_FLIGHT_MOST } from './chain-settings.ts';

interface ConsumerLook {
  consumer: string;
  position: number;
  /** The last position of the feed. */
  head: number;
  nowMs: number;
}

/** Tells for how long each consumer has been behind the feed, from one look to the next. */
export function createConsumerLags() {
  /** What a consumer has to reach until it counts as level with a look, and when that was. */
  const wanted = new Map<string, { head: number; sinceMs: number }>();
  return {
    /** `sinceMs`: when it was first seen behind what it still has to read; undefined while it has read everything. */
    look({ consumer, position, head, nowMs }: ConsumerLook): { facts: number; sinceMs: number | undefined } {
      const facts = Math.max(0, head - position);
      const known = wanted.get(consumer);
      if (facts === 0) wanted.delete(consumer);
      // What it had to reach then it has; what has come since is new.
      else if (!known || position >= known.head) wanted.set(consumer, { head, sinceMs: nowMs });
      return { facts, sinceMs: wanted.get(consumer)?.sinceMs };
    },
  };
}

/** Makes a metric in a registry. */
type Figure<Made> = (registers: Registry[]) => Made;

const counter =
  <L extends string>(name: string, help: string, labelNames: L[]): Figure<Counter<L>> =>
  (registers) =>
    new Counter({ name, help, labelNames, registers });

const gauge =
  <L extends string>(name: string, help: string, labelNames: L[] = []): Figure<Gauge<L>> =>
  (registers) =>
    new Gauge({ name, help, labelNames, registers });

const seconds =
  <L extends string>(name: string, help: string, labelNames: L[]): Figure<Histogram<L>> =>
  (registers) =>
    new Histogram({
      name,
      help,
      labelNames,
      registers,
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    });

/**
 * Gauges of the library that are called as only counters may be. Nothing is lost: each is the sum of a figure by type, such
 * as nodejs_active_handles.
 */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** All metrics of our own. */
const figures = {
  build: gauge('rewards_build_info', '1, with the versions of rewards and of Node', [
    'version',
    'node_version',
  ]),
  requests: counter('rewards_http_requests_total', 'Requests answered', ['method', 'route', 'status']),
  requestSeconds: seconds('rewards_http_request_seconds', 'Time from a request to its answer', ['route']),
  decisions: counter('rewards_decisions_total', 'Events decided, by what was decided', ['code']),
  relayed: counter('rewards_relays_total', 'Calls of users, by what became of them', ['code']),
  sends: counter('rewards_send_outcomes_total', 'Signed bytes offered to nodes, by their answer', [
    'outcome',
  ]),
  rpc: counter('rewards_rpc_requests_total', 'Requests to nodes', ['node', 'outcome']),
  rpcSeconds: seconds('rewards_rpc_request_seconds', "Time from a request to a node's answer", [
    'node',
    'method',
  ]),
  tracesDropped: counter(
    'rewards_request_traces_dropped_total',
    'Requests that cannot be looked up, since the database was too slow for their rows',
    [],
  ),
  connections: gauge('rewards_database_connections', 'Connections of this process to Postgres'),
  connectionsIdle: gauge('rewards_database_connections_idle', 'Those of them that nothing uses'),
  connectionsWaiting: gauge('rewards_database_connections_waiting', 'Work that waits for a connection'),
  waiting: gauge('rewards_waiting', 'Rewards that no transaction carries yet'),
  waitingSeconds: gauge('rewards_waiting_oldest_seconds', 'Age of the oldest of them'),
  webhooks: gauge('rewards_webhooks_waiting', 'Webhooks that wait for their first or next attempt'),
  webhooksOverdue: gauge('rewards_webhooks_overdue_seconds', 'How long the oldest of them has been due'),
  consumerBehind: gauge(
    'rewards_consumer_behind',
    'Booked payouts, mints and redemptions that a consumer has not read',
    ['consumer'],
  ),
  consumerBehindSeconds: gauge('rewards_consumer_behind_seconds', 'For how long it has been behind', [
    'consumer',
  ]),
  mintsWaiting: gauge('rewards_mints_waiting', 'Mints that no transaction carries yet'),
  mintsWaitingSeconds: gauge('rewards_mints_waiting_oldest_seconds', 'Age of the oldest of them'),
  redemptionsWaiting: gauge('rewards_redemptions_waiting', 'Redemptions that no transaction carries yet'),
  redemptionsWaitingSeconds: gauge('rewards_redemptions_waiting_oldest_seconds', 'Age of the oldest of them'),
  inFlight: gauge('rewards_in_flight', 'Rewards whose transaction no block is known to hold'),
  open: gauge('rewards_transactions_open', 'Transactions that are not final', ['purpose', 'status']),
  nonces: gauge('rewards_lane_nonce', "A sending account's next nonce", ['lane', 'purpose', 'source']),
  gasMoney: gauge('rewards_lane_gas_money_wei', 'Native currency of a sending account', ['lane', 'purpose']),
  leases: gauge(
    'rewards_lane_lease_seconds',
    'How much longer a lane is leased; negative: no process holds it',
    ['lane', 'purpose'],
  ),
  relayTokens: gauge('rewards_relay_tokens', "RWT that somebody sent to the account that pays users' gas"),
  alarming: gauge('rewards_alarms', 'Alarms that last', ['code']),
  spent: gauge(
    'rewards_brand_spent_ratio',
    "How far a brand's spend limit is used up; 1: events are refused",
    ['brand', 'span'],
  ),
  head: gauge('rewards_block_head', 'Newest block of the chain'),
  lag: gauge('rewards_block_lag', 'Blocks of the chain that the ledger has not read'),
  sampledAt: gauge(
    'rewards_sampled_timestamp_seconds',
    'When ledger and chain were last looked at for these figures',
  ),
  verifyDifferences: gauge(
    'rewards_verify_differences',
    'Differences between ledger and chain in the last comparison',
  ),
  verifiedAt: gauge('rewards_verify_timestamp_seconds', 'When the last comparison of ledger and chain ended'),
  verifySeconds: gauge('rewards_verify_duration_seconds', 'How long it took'),
};

type Figures = { [Name in keyof typeof figures]: ReturnType<(typeof figures)[Name]> };

const registered = (registry: Registry) =>
  Object.fromEntries(Object.entries(figures).map(([name, make]) => [name, make([registry])])) as Figures;

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const made = registered(registry);
  made.build.set({ version: manifest.version, node_version: process.versions.node }, 1);
  let connections: () => Connections | undefined = () => undefined;
  const lags = createConsumerLags();
  return {
    async text() {
      const now = connections();
      if (now) {
        made.connections.set(now.total);
        made.connectionsIdle.set(now.idle);
        made.connectionsWaiting.set(now.waiting);
      }
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
    request({ method, route, status, seconds }: MeasuredRequest) {
      made.requests.inc({ method, route, status });
      made.requestSeconds.observe({ route }, seconds);
    },
    /** What one request decided about its events, or about its call. */
    decided(traces: readonly Pick<RequestTrace, 'kind' | 'decided'>[]) {
      for (const { kind, decided: code } of traces)
        if (code !== undefined) (kind === 'event' ? made.decisions : made.relayed).inc({ code });
    },
    traceDropped: () => made.tracesDropped.inc(),
    rpc({ node, method, outcome, seconds }: RpcRequest) {
      made.rpc.inc({ node, outcome });
      made.rpcSeconds.observe({ node, method }, seconds);
    },
    /** The connections of a database are counted when the figures are asked for; SQLite has none. */
    watchConnections(database: Pick<Database, 'connections'>) {
      connections = () => database.connections?.();
    },
    /** Wraps a client and counts the nodes' answers to signed bytes. */
    countSends: (chain: ChainClient): ChainClient => ({
      ...chain,
      async sendRaw(raw) {
        const outcome = await chain.sendRaw(raw);
        made.sends.inc({ outcome: outcome.kind });
        return outcome;
      },
    }),
    verified(report: VerifyReport, run: { nowMs: number; tookMs: number }) {
      made.verifyDifferences.set(report.differences.length);
      made.verifiedAt.set(run.nowMs / 1000);
      made.verifySeconds.set(run.tookMs / 1000);
    },
    relayTokens: (tokens: bigint) => made.relayTokens.set(Number(tokens)),
    alarms(alarms: Alarms) {
      for (const code of alarmCodes) made.alarming.set({ code }, 0);
      for (const { code } of alarms.list()) made.alarming.inc({ code });
    },
    /** While the chain is read at the start, before anything is sampled. */
    reading({ block, head }: Reading) {
      made.head.set(head);
      made.lag.set(head - block);
    },
    /** Looks at ledger and chain. */
    async sample(deps: LookedAt, nowMs: number) {
      await sample(made, deps, nowMs);
      await sampleConsumers(made, { database: deps.database, lags }, nowMs);
    },
  };
}

interface LookedAt {
  database: Database;
  chain: ChainClient;
  /** Whether this process has the key of a lane. */
  sends: (lane: { address: `0x${string}`; purpose: LanePurpose }) => boolean;
  /** The block from which the ledger reads. */
  firstBlock: number;
}

/** Lanes that this process has the key of, and those with something open: others are at rest, or gone for good. */
async function shownLanes(db: Queries, sends: LookedAt['sends']) {
  const open = new Set((await openLanes(db)).map(({ lane }) => lane.toLowerCase()));
  return (await everyLane(db)).filter((lane) => sends(lane) || open.has(lane.address.toLowerCase()));
}

async function sampleLanes(made: Figures, { database: { db }, chain, sends }: LookedAt, nowMs: number) {
  const seen = [];
  for (const { address: lane, purpose, leaseUntil } of await shownLanes(db, sends))
    seen.push({
      of: { lane, purpose },
      leaseSeconds: (leaseUntil - nowMs) / 1000,
      ledger: (await nextNonce(db, lane)) ?? 0,
      chain: await chain.nonce(lane),
      wei: Number(await chain.balanceWei(lane)),
    });
  // At once, so that no scrape finds them gone.
  for (const figure of [made.leases, made.nonces, made.gasMoney]) figure.reset();
  for (const one of seen) {
    made.leases.set(one.of, one.leaseSeconds);
    made.nonces.set({ ...one.of, source: 'ledger' }, one.ledger);
    made.nonces.set({ ...one.of, source: 'chain' }, one.chain);
    made.gasMoney.set(one.of, one.wei);
  }
}

async function sampleConsumers(
  made: Figures,
  { database: { db }, lags }: { database: Database; lags: ReturnType<typeof createConsumerLags> },
  nowMs: number,
) {
  // The positions first, so that what is booked between the two reads lets no consumer look as if it were ahead.
  const positions = await readPositions(db);
  const head = await feedHead(db);
  for (const [consumer, position] of positions) {
    const { facts, sinceMs } = lags.look({ consumer, position, head, nowMs });
    made.consumerBehind.set({ consumer }, facts);
    made.consumerBehindSeconds.set({ consumer }, ageSeconds(sinceMs, nowMs));
  }
}

const ageSeconds = (sinceMs: number | undefined, nowMs: number): number =>
  sinceMs === undefined ? 0 : Math.max(0, (nowMs - sinceMs) / 1000);

/** All that payouts have in flight, and as much again in blocks that the ledger has not read yet. */
const IN_FLIGHT_READ = 2 * IN_FLIGHT_MOST;

async function sample(made: Figures, deps: LookedAt, nowMs: number): Promise<void> {
  const { db } = deps.database;
  const backlog = await waitingBacklog(db);
  made.waiting.set(backlog.waiting);
  const webhooks = await webhookBacklog(db, deps.database.now);
  made.webhooks.set(webhooks.waiting);
  made.webhooksOverdue.set(webhooks.overdueMs / 1000);
  made.waitingSeconds.set(ageSeconds(backlog.oldestAt, nowMs));
  const mints = await mintBacklog(db);
  made.mintsWaiting.set(mints.waiting);
  made.mintsWaitingSeconds.set(ageSeconds(mints.oldestAt, nowMs));
  const redemptions = await redemptionBacklog(db);
  made.redemptionsWaiting.set(redemptions.waiting);
  made.redemptionsWaitingSeconds.set(ageSeconds(redemptions.oldestAt, nowMs));
  const bytes = await payoutsInFlight(db, IN_FLIGHT_READ);
  made.inFlight.set(bytes.reduce((sum, { raw }) => sum + payoutsIn(raw).length, 0));
  const open = await openTransactions(db);
  made.open.reset();
  for (const { purpose, status, count } of open) made.open.inc({ purpose, status }, count);
  await sampleLanes(made, deps, nowMs);
  const newest = await deps.chain.block('latest');
  const followed = (await newestFollowed(db)) ?? deps.firstBlock - 1;
  if (newest) made.head.set(newest.number);
  if (newest) made.lag.set(Math.max(0, newest.number - followed));
  made.spent.reset();
  const brands = (await listBrands(db)).map(({ brandId, profile }) => ({
    brandId,
    limits: spendLimits(profile),
  }));
  for (const [brand, windows] of await readSpending(db, { brands, nowMs }))
    for (const { span, spent, limit } of windows) made.spent.set({ brand, span }, spent / limit);
  made.sampledAt.set(nowMs / 1000);
}

/** What production counts and measures, for Prometheus. Labels hold codes and addresses of our own, never users. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { payoutsIn } from '../audit/read-attempt.ts';
import type { VerifyReport } from '../audit/report.ts';
import type { Alarms } from '../chain/alarms.ts';
import type { ChainClient } from '../chain/rpc/client.ts';
import type { RpcOutcome } from '../chain/rpc/rpc-pool.ts';
import type { MeasuredRequest } from '../http/frame/measured.ts';
import type { Database } from '../ledger/database/database.ts';
import {
  everyLane,
  newestFollowed,
  openTransactions,
  payoutsInFlight,
  waitingBacklog,
} from '../ledger/transactions/backlog.ts';
import { nextNonce } from '../ledger/transactions/transactions.ts';

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
    new Gauge({ name, help, labelNames, registers });

  const requests = counter('rewards_http_requests_total', 'Requests answered', ['method', 'route', 'status']);
  const requestSeconds = new Histogram({
    name: 'rewards_http_request_seconds',
    help: 'Time from a request to its answer',
    labelNames: ['route'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    registers,
  });
  const decisions = counter('rewards_decisions_total', 'Events decided, by what was decided', ['code']);
  const relayed = counter('rewards_relays_total', 'Calls of users, by what became of them', ['code']);
  const sends = counter('rewards_send_outcomes_total', 'Signed bytes offered to nodes, by their answer', [
    'outcome',
  ]);
  const rpc = counter('rewards_rpc_requests_total', 'Requests to nodes', ['node', 'outcome']);
  const waiting = gauge('rewards_waiting', 'Rewards that no transaction carries yet');
  const waitingSeconds = gauge('rewards_waiting_oldest_seconds', 'Age of the oldest of them');
  const inFlight = gauge('rewards_in_flight', 'Rewards whose transaction no block is known to hold');
  const open = gauge('rewards_transactions_open', 'Transactions that are not final', ['purpose', 'status']);
  const nonces = gauge('rewards_lane_nonce', "A sending account's next nonce", ['lane', 'purpose', 'source']);
  const gasMoney = gauge('rewards_lane_gas_money_wei', 'Native currency of a sending account', [
    'lane',
    'purpose',
  ]);
  const leases = gauge(
    'rewards_lane_lease_seconds',
    'How long a lane is leased yet; negative: nobody has it',
    ['lane', 'purpose'],
  );
  const alarming = gauge('rewards_alarms', 'Alarms that last', ['code']);
  const head = gauge('rewards_block_head', 'Newest block of the chain');
  const lag = gauge('rewards_block_lag', 'Blocks of the chain that the ledger has not read');
  const sampledAt = gauge(
    'rewards_sampled_timestamp_seconds',
    'When ledger and chain were last looked at for these figures',
  );
  const verifyDifferences = gauge(
    'rewards_verify_differences',
    'Differences between ledger and chain in the last comparison',
  );
  const verifiedAt = gauge(
    'rewards_verify_timestamp_seconds',
    'When the last comparison of ledger and chain ended',
  );
  const verifySeconds = gauge('rewards_verify_duration_seconds', 'How long it took');

  return {
    text: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
    request({ method, route, status, seconds }: MeasuredRequest) {
      requests.inc({ method, route, status });
      requestSeconds.observe({ route }, seconds);
    },
    decision: (code: string) => decisions.inc({ code }),
    relay: (code: string) => relayed.inc({ code }),
    rpc: (node: number, outcome: RpcOutcome) => rpc.inc({ node, outcome }),
    /** The same client, with what nodes say to signed bytes counted. */
    countSends: (chain: ChainClient): ChainClient => ({
      ...chain,
      async sendRaw(raw) {
        const outcome = await chain.sendRaw(raw);
        sends.inc({ outcome: outcome.kind });
        return outcome;
      },
    }),
    verified(report: VerifyReport, run: { nowMs: number; tookMs: number }) {
      verifyDifferences.set(report.differences.length);
      verifiedAt.set(run.nowMs / 1000);
      verifySeconds.set(run.tookMs / 1000);
    },
    alarms(alarms: Alarms) {
      alarming.reset();
      for (const { code } of alarms.list()) alarming.inc({ code });
    },
    /** Looks at ledger and chain. */
    async sample(deps: { database: Database; chain: ChainClient }, nowMs: number) {
      const { db } = deps.database;
      const backlog = await waitingBacklog(db);
      waiting.set(backlog.waiting);
      waitingSeconds.set(backlog.oldestAt === undefined ? 0 : Math.max(0, (nowMs - backlog.oldestAt) / 1000));
      const bytes = await payoutsInFlight(db, IN_FLIGHT_READ);
      inFlight.set(bytes.reduce((sum, { raw }) => sum + payoutsIn(raw).length, 0));
      open.reset();
      for (const { purpose, status, count } of await openTransactions(db))
        open.set({ purpose, status }, count);
      for (const { address: lane, purpose, leaseUntil } of await everyLane(db)) {
        leases.set({ lane, purpose }, (leaseUntil - nowMs) / 1000);
        nonces.set({ lane, purpose, source: 'ledger' }, (await nextNonce(db, lane)) ?? 0);
        nonces.set({ lane, purpose, source: 'chain' }, await deps.chain.nonce(lane));
        gasMoney.set({ lane, purpose }, Number(await deps.chain.balanceWei(lane)));
      }
      const newest = await deps.chain.block('latest');
      const followed = await newestFollowed(db);
      if (newest) head.set(newest.number);
      if (newest && followed !== undefined) lag.set(Math.max(0, newest.number - followed));
      sampledAt.set(nowMs / 1000);
    },
  };
}

/** More than lanes have in flight together. */
const IN_FLIGHT_READ = 256;

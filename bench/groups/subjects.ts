/** The loads as every group sends them: events of new users, transfers that were signed ahead, relayed calls. */
import type { Rpc } from '../../src/chain/rpc/rpc.ts';
import { type Brand, blockNumber, type Chain, rewardsPaid, transactionsSince } from '../setup/chain.ts';
import { CALLS_PER_USER } from '../setup/relay-users.ts';
import type { MeasuredService } from '../setup/service.ts';
import { type Subject, until } from './rounds.ts';

const EVENT_PATH = '/rewards-api/manual-event';
const throughProxy = { 'x-forwarded-proto': 'https' };

export const eventLoad = (urls: string[], brand: Partial<Brand> | undefined): Subject['load'] => ({
  urls: urls.map((url) => url + EVENT_PATH),
  requests: {
    kind: 'new users',
    body: JSON.stringify({
      brandId: brand?.brandId,
      domain: brand?.domain,
      eventType: 'form_submit',
      userEmail: 'user-{n}@people.example',
    }),
  },
  headers: throughProxy,
});

/** Waits, after a round, until the escrow has paid every reward that was answered. */
export const allPaid =
  (rpc: Rpc, of: Parameters<typeof rewardsPaid>[1]): NonNullable<Subject['settled']> =>
  async () => {
    const before = await rewardsPaid(rpc, of);
    return (answered) => until('rewards', async () => (await rewardsPaid(rpc, of)) - before >= answered);
  };

export const eventsOf = (
  service: MeasuredService,
  { chain, brands }: { chain: Chain; brands: Brand[] },
): Subject => ({
  load: eventLoad(service.urls, brands[0]),
  pids: service.pids,
  chainPid: chain.pid,
  settled: allPaid(chain.rpc, { contracts: service.contracts, brands }),
});

export const baselineOf = (
  { url, pid }: { url: string; pid: number },
  brand: Brand | undefined,
): Subject => ({
  load: eventLoad([url], brand),
  pids: [pid],
});

/** `transfersEach` of each caller in a round. */
export const rawTransfers = (chain: Chain, file: string, transfersEach: number): Subject => ({
  load: {
    urls: [chain.url],
    requests: { kind: 'list', file, each: 1, inOneLoad: transfersEach },
    headers: {},
  },
  pids: [chain.pid],
  async settled() {
    const before = await blockNumber(chain.rpc);
    return (answered) =>
      until('transfers', async () => (await transactionsSince(chain.rpc, before)) >= answered);
  },
});

export const relaysOf = (service: MeasuredService, chain: Chain, file: string): Subject => ({
  load: {
    urls: [`${service.url}/relay`],
    requests: { kind: 'list', file, each: CALLS_PER_USER },
    headers: throughProxy,
  },
  pids: service.pids,
  chainPid: chain.pid,
});

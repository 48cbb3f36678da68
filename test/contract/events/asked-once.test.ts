/** What strangers ask costs a node or a name server one question, however many of them ask. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type RpcProxy, startRpcProxy } from '../../kits/chain/rpc-proxy.ts';
import { startNameServer } from '../../kits/network/name-server.ts';
import { until } from '../../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  type Started,
  sqliteLedger,
  startProduction,
  startProductionKit,
} from '../../kits/service/production.ts';
import { API, startContractService } from '../kit.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });
const STRANGERS = 50;

let kit: ProductionKit;
let node: RpcProxy;
let service: Started;
beforeAll(async () => {
  kit = await startProductionKit();
  node = await startRpcProxy({ target: kit.anvil.url });
  service = await startProduction(
    kit.environment(await sqliteLedger(kit.folder, 'asked-once'), {
      REWARDS_ALLOW_SQLITE: 'true',
      REWARDS_RPC_URL: `${node.url},${node.url}/?again`,
      // It asks the node for callers alone; no new block comes.
      REWARDS_WORKERS: 'api',
      REWARDS_BLOCK_POLL: '10m',
      REWARDS_BLOCK_LAG_MAX: '1h',
      REWARDS_CHECK_EVERY: '10m',
    }),
  );
  await until(
    'the first figures',
    async () => (await service.metric('rewards_sampled_timestamp_seconds')) !== 0,
  );
});
afterAll(async () => {
  await service?.stop();
  await node?.stop();
  await kit?.stop();
});

const asStrangers = async (path: string) => {
  const headers = { 'x-forwarded-proto': 'https' };
  const answers = await Promise.all(Array.from({ length: STRANGERS }, () => service.api(path, { headers })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  return answers;
};
/** How many requests of a kind reach the node meanwhile. */
const requests = async (method: string, work: () => Promise<unknown>) => {
  const before = node.counts.get(method) ?? 0;
  await work();
  return (node.counts.get(method) ?? 0) - before;
};

test('health and diagnostic, 50 at once: one request to the node in a second', async () => {
  const startedMs = performance.now();
  const asked = await requests('eth_getBlockByNumber', () =>
    Promise.all([asStrangers('/health'), asStrangers('/diagnostic')]),
  );
  const seconds = Math.floor((performance.now() - startedMs) / 1_000);
  expect(asked).toBeGreaterThanOrEqual(1);
  expect(asked).toBeLessThanOrEqual(1 + seconds);
});

test('user-balance of one user, 50 at once and 50 later: one request to the node within a block', async () => {
  const balance = (user: string) => `/user-balance?brandId=${brandId}&userIdentifier=${user}`;
  // With the first balance it asks for the token's decimals, once for all.
  await service.api(balance(kit.accounts.payout.address), { headers: { 'x-forwarded-proto': 'https' } });
  const asked = await requests('eth_call', async () => {
    const answers = await asStrangers(balance(kit.accounts.admin.address));
    expect(answers[0]?.body).toMatchObject({ success: true, balance: 0 });
    await asStrangers(balance(kit.accounts.admin.address.toLowerCase()));
  });
  expect(asked).toBe(1);
  expect(await requests('eth_call', () => asStrangers(balance(kit.accounts.mint.address)))).toBe(1);
});

test('verify-dns of one domain, 50 at once: never two lookups together', async () => {
  const names = await startNameServer();
  names.pace.delayMs = 200;
  const contract = await startContractService({ dns: { servers: [names.address] } });
  const verify = (domain: string) => contract.post(`${API}/verify-dns`, { domain });
  const answers = await Promise.all(
    Array.from({ length: 2 * STRANGERS }, (_, place) => verify(place % 2 ? 'one.example' : 'two.example')),
  );
  expect(new Set(answers.map(({ status }) => status)).size).toBe(1);
  expect(names.pace.mostAtOnce).toBe(1);
  expect(names.asked.length).toBeLessThan(STRANGERS);
  await contract.stop();
  await names.stop();
});

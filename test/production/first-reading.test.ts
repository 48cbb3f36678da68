/** The first reading of a chain that has many blocks already: what log, /readyz and metrics say meanwhile. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startRpcProxy } from '../kits/chain/rpc-proxy.ts';
import { freePort } from '../kits/network/free-port.ts';
import { until } from '../kits/service/clock.ts';
import {
  type ProductionKit,
  sqliteLedger,
  startProduction,
  startProductionKit,
} from '../kits/service/production.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let kit: ProductionKit;

beforeEach(async () => {
  kit = await startProductionKit();
});
afterEach(() => kit.stop());

test('log, /readyz and rewards_block_lag tell how far the first reading is', async () => {
  const blocks = 300;
  await kit.rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
  const head = Number(await kit.rpc('eth_blockNumber', []));
  const proxy = await startRpcProxy({ target: kit.anvil.url });
  proxy.add({ fault: 'delay', method: /eth_getBlockReceipts/, delayMs: 300 });
  const adminPort = await freePort();
  const said: string[] = [];
  const ledger = await sqliteLedger(kit.folder, 'first-reading');
  const starting = startProduction(
    kit.environment(ledger, {
      REWARDS_ALLOW_SQLITE: 'true',
      REWARDS_RPC_URL: `${proxy.url},${proxy.url}/?again`,
      REWARDS_ADMIN_PORT: String(adminPort),
    }),
    [],
    { onLog: (text) => said.push(text) },
  );
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${adminPort}${path}`).catch(() => undefined);
    return response && { status: response.status, text: await response.text() };
  };

  await until('the reason', async () => (await ask('/readyz'))?.text.includes('reading block') ?? false);
  const { status, text = '' } = (await ask('/readyz')) ?? {};
  expect(status).toBe(503);
  expect(JSON.parse(text).reasons).toEqual([expect.stringMatching(`^reading block \\d+ of ${head}$`)]);
  const [, lag] = /^rewards_block_lag (\d+)$/m.exec((await ask('/metrics'))?.text ?? '') ?? [];
  expect(Number(lag)).toBeGreaterThan(blocks / 2);

  await until('a line of the log', () => said.join('').includes('reading the chain'));
  const [line = ''] = said
    .join('')
    .split('\n')
    .filter((one) => one.includes('reading the chain'));
  expect(JSON.parse(line)).toMatchObject({ level: 'info', of: head });
  expect(JSON.parse(line).block).toBeLessThan(head);

  proxy.heal();
  const running = await starting;
  await until('the end of the lag', async () => (await running.metric('rewards_block_lag')) === 0);
  expect((await running.admin('/readyz')).status).toBe(200);
  await running.stop();
  await proxy.stop();
});

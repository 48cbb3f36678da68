/** A ledger that is an old copy, while the transactions of what it has lost still wait in a pool; and nodes that answer nothing useful. */
import { cp, mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseGwei } from 'viem';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startRpcProxy } from '../kits/chain/rpc-proxy.ts';
import { freePort } from '../kits/network/free-port.ts';
import { until } from '../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  productionOf,
  sqliteLedger,
  startProductionKit,
} from '../kits/service/production.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let kit: ProductionKit;

beforeEach(async () => {
  kit = await startProductionKit();
});
afterEach(() => kit.stop());
const { start, refused } = productionOf(() => kit);

test('start refuses while the transactions of lost rewards wait in the pool, whether the copy knows the account or not', async () => {
  const ledger = await sqliteLedger(kit.folder, 'old-copy');
  const folder = dirname(ledger.slice('sqlite:'.length));
  const copyOf = async () => {
    const copy = await mkdtemp(join(kit.folder, 'copy-'));
    await cp(folder, copy, { recursive: true });
    return `sqlite:${join(copy, 'ledger.sqlite')}`;
  };
  const empty = await copyOf();
  const running = await start(ledger);
  const first = await running.event({ brandId, userEmail: 'first@shop.example' });
  expect(first.status).toBe(200);
  await until('the first payment', async () =>
    Boolean(await kit.rpc('eth_getTransactionReceipt', [first.body.transactionHash])),
  );
  await running.stop();
  const old = await copyOf();
  const again = await start(ledger);
  await kit.rpc('evm_setAutomine', [false]);
  const lost = await again.event({ brandId, userEmail: 'second@shop.example' });
  expect(lost.status).toBe(200);
  await again.stop('SIGKILL');

  const { code, error } = await refused(old);
  expect([code, error.code]).toEqual([5, 'E_PROD_LEDGER_BEHIND']);
  expect(error.message).toContain(kit.accounts.payout.address);
  expect((await refused(empty)).error.code).toBe('E_PROD_LEDGER_BEHIND');
  // The ledger itself knows what waits.
  const ours = await start(ledger);
  await ours.stop();
});

test('start waits for a block before it sends, and refuses when that block pays what no node of its own had shown', async () => {
  const ledger = await sqliteLedger(kit.folder, 'hidden-pool');
  const copy = await mkdtemp(join(kit.folder, 'copy-'));
  const running = await start(ledger);
  await kit.rpc('evm_setAutomine', [false]);
  expect((await running.event({ brandId, userEmail: 'first@shop.example' })).status).toBe(200);
  await kit.rpc('evm_mine', []);
  await running.stop();
  await cp(dirname(ledger.slice('sqlite:'.length)), copy, { recursive: true });
  const again = await start(ledger);
  const lost = await again.event({ brandId, userEmail: 'second@shop.example' });
  expect(lost.status).toBe(200);
  await again.stop('SIGKILL');

  const proxy = await startRpcProxy({ target: kit.anvil.url });
  proxy.add({ fault: 'empty-pool' });
  const adminPort = await freePort();
  const old = start(`sqlite:${join(copy, 'ledger.sqlite')}`, {
    REWARDS_RPC_URL: `${proxy.url},${proxy.url}/?again`,
    REWARDS_ADMIN_PORT: String(adminPort),
    REWARDS_FIRST_BLOCK_WAIT: '10m',
  });
  const ended = old.then(
    () => 'ready',
    (error: Error) => error.message,
  );
  await until('the wait', async () => {
    const readyz = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined);
    return (await readyz?.text())?.includes('waiting for the next block') ?? false;
  });
  expect(proxy.sent).toEqual([]);
  await kit.rpc('evm_mine', []);
  const said = await ended;
  expect(said).toContain('E_PROD_LEDGER_BEHIND');
  expect(said).toContain('the escrow has paid sequence 1');
  expect(proxy.sent).toEqual([]);
  await proxy.stop();

  // The ledger itself goes on with the first new block.
  const own = start(ledger, { REWARDS_FIRST_BLOCK_WAIT: '10m' });
  await kit.rpc('evm_setIntervalMining', [1]);
  const { log } = await own;
  expect(log()).not.toContain('foreign_nonce');
});

test('a lane stops while a transaction that the ledger does not know waits in the pool', async () => {
  const ledger = await sqliteLedger(kit.folder, 'foreign-pending');
  const running = await start(ledger);
  await kit.rpc('evm_setAutomine', [false]);
  const { address } = kit.accounts.payout;
  const sent = await running.event({ brandId, userEmail: 'third@shop.example' });
  expect(sent.status).toBe(200);
  const nonce = Number(await kit.rpc('eth_getTransactionCount', [address, 'pending']));
  const raw = await kit.accounts.payout.signTransaction({
    chainId: 4242,
    type: 'eip1559',
    nonce,
    to: address,
    gas: 21_000n,
    maxFeePerGas: parseGwei('50'),
    maxPriorityFeePerGas: parseGwei('1'),
  });
  await kit.rpc('eth_sendRawTransaction', [raw]);
  await until('the alarm', async () => {
    void running.event({ brandId, userEmail: `late-${Date.now()}@shop.example` }).catch(() => undefined);
    return running.log().includes('foreign_nonce');
  });
  expect(Number(await kit.rpc('eth_getTransactionCount', [address, 'latest']))).toBeLessThan(nonce);
  await running.stop('SIGKILL');
});

test('nodes that answer null while starting: asked again for the time that is set, then exit 75', async () => {
  const ledger = await sqliteLedger(kit.folder, 'null-answers');
  const proxy = await startRpcProxy({ target: kit.anvil.url });
  const nodes = { REWARDS_RPC_URL: `${proxy.url},${proxy.url}/?again` };
  for (const method of [/eth_chainId/, /eth_getCode/, /eth_call/, /eth_getTransactionCount/]) {
    proxy.heal();
    proxy.add({ fault: 'null', method });
    const { code, error } = await refused(ledger, nodes);
    expect([String(method), code, error.code]).toEqual([String(method), 75, 'E_START_RPC']);
  }
  proxy.heal();
  const before = proxy.counts.get('fault null') ?? 0;
  proxy.add({ fault: 'null', times: 12 });
  const running = await start(ledger, { ...nodes, REWARDS_START_WAIT: '30s' });
  expect(await running.admin('/readyz')).toMatchObject({ status: 200 });
  await running.stop();
  await proxy.stop();
  expect(proxy.counts.get('fault null')).toBe(before + 12);
});

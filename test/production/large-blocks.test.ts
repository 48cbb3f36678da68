/** Blocks whose receipts are larger than what is read of one answer, and blocks that cannot be read at all. */
import Sqlite from 'better-sqlite3';
import { createPublicClient, createWalletClient, type Hex, hexToNumber, http, toHex } from 'viem';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { fundEscrow } from '../kits/chain/chain.ts';
import { fillWithLogs } from '../kits/chain/large-block.ts';
import { startRpcProxy } from '../kits/chain/rpc-proxy.ts';
import { rewardsJson } from '../kits/service/cli.ts';
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
let ledger: string;

beforeAll(async () => {
  kit = await startProductionKit();
  ledger = await sqliteLedger(kit.folder, 'large-blocks');
});
afterAll(() => kit.stop());
afterEach(async () => {
  await kit.rpc('evm_setAutomine', [true]);
});
const { start, ...production } = productionOf(() => kit);

/** Of this chain, in any test. */
const deposits = new Set<Hex>();
/** The deposits by hand are recorded, and then ledger and chain agree. */
async function agrees(of: string) {
  for (const transaction of deposits) {
    const why = ['--transaction', transaction, '--reason', 'minted by hand'];
    await rewardsJson(['brand', 'fund', 'shop.example', '1000', '--allow-sqlite', ...why], {
      env: kit.environment(of),
    });
  }
  return production.agrees(of);
}

const deposit = () => {
  const transport = http(kit.anvil.url);
  const of = {
    wallet: createWalletClient({ transport }),
    client: createPublicClient({ transport, pollingInterval: 20 }),
    pointsSale: kit.contracts.pointsSale,
  };
  return fundEscrow(of, kit.accounts.mint, { brand: brandId, amount: 1_000n });
};
const headOf = async () => hexToNumber((await kit.rpc('eth_blockNumber', [])) as Hex);
/** The blocks whose payouts the ledger knows. */
const bookedPayouts = async () => {
  const database = new Sqlite(ledger.slice('sqlite:'.length), { readonly: true });
  const rows = database.prepare(`select block_number from transactions where status <> 'stored'`).all();
  database.close();
  return (rows as { block_number: number | null }[]).map(({ block_number: at }) => toHex(at ?? 0));
};
test("a stranger's large block: our payout and a brand's deposit in it are booked, before and after a restart", async () => {
  const small = { REWARDS_RPC_ANSWER_MAX: '1' };
  const running = await start(ledger, small);
  await kit.rpc('evm_setAutomine', [false]);
  const paid = await running.event({ brandId, userEmail: 'large@shop.example' });
  expect(paid.status).toBe(200);
  const deposited = deposit();
  await fillWithLogs(kit.rpc, 1);
  await until('all three to wait for a block', async () => {
    const { pending } = (await kit.rpc('txpool_status', [])) as { pending: string };
    return Number(pending) === 3;
  });
  await kit.rpc('evm_mine', []);
  const transaction = await deposited;
  const receipt = (await kit.rpc('eth_getTransactionReceipt', [paid.body.transactionHash])) as {
    blockNumber: Hex;
  };
  const { length } = JSON.stringify(await kit.rpc('eth_getBlockReceipts', [receipt.blockNumber]));
  expect(length).toBeGreaterThan(3_000_000);
  await until('the block to be read', async () => (await bookedPayouts()).includes(receipt.blockNumber));
  await running.stop();
  expect(running.log()).toContain('the receipts of a block are too many');
  expect(running.log()).not.toContain('a node gave no usable answer');
  deposits.add(transaction);
  await agrees(ledger);

  // As the first block that a fresh process reads.
  await fillWithLogs(kit.rpc, 1);
  await kit.rpc('evm_mine', []);
  const again = await start(ledger, small);
  expect(await again.admin('/readyz')).toMatchObject({ status: 200 });
  await again.stop();
});

test('a block that no node shows raises an alarm, and /readyz says so until it is read', async () => {
  const proxy = await startRpcProxy({ target: kit.anvil.url });
  const running = await start(ledger, {
    REWARDS_RPC_URL: `${proxy.url},${proxy.url}/?again`,
    REWARDS_BLOCK_LAG_MAX: '500ms',
  });
  proxy.add({ fault: 'garbage', method: /eth_getBlockReceipts|eth_getLogs|eth_getTransactionReceipt/ });
  await kit.rpc('evm_mine', []);
  await until('readyz to notice', async () => (await running.admin('/readyz')).status === 503);
  expect((await running.admin('/readyz')).body.reasons).toEqual([
    'the ledger has not read the newest blocks',
  ]);
  expect(running.logLines()).toContainEqual(
    expect.objectContaining({ alarm: 'block_lag', message: 'alarm' }),
  );
  expect((await running.admin('/livez')).status).toBe(200);
  proxy.heal();
  await until('readyz to be well again', async () => (await running.admin('/readyz')).status === 200);
  expect(running.logLines()).toContainEqual(
    expect.objectContaining({ alarm: 'block_lag', message: 'alarm is over' }),
  );
  await running.stop();
  await proxy.stop();
});

test('receipts that never arrive in time are asked for in parts', async () => {
  const proxy = await startRpcProxy({ target: kit.anvil.url });
  const running = await start(ledger, { REWARDS_RPC_URL: `${proxy.url},${proxy.url}/?again` });
  proxy.add({ fault: 'lost-answer', method: /eth_getBlockReceipts/ });
  const { status } = await running.event({ brandId, userEmail: 'parts@shop.example' });
  expect(status).toBe(200);
  const block = toHex(await headOf());
  await until('the block to be read', async () => (await bookedPayouts()).includes(block));
  await running.stop();
  await proxy.stop();
  await agrees(ledger);
});

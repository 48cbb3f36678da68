/** Mints of a production service: a process without the key says so and mints nothing; one that has it mints what waited. */
import Sqlite from 'better-sqlite3';
import { createPublicClient, http } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import {
  type ProductionKit,
  productionOf,
  sqliteLedger,
  startProductionKit,
} from '../kits/service/production.ts';

const account = `0x${'c3'.repeat(20)}` as const;

let kit: ProductionKit;
let ledger: string;
beforeAll(async () => {
  kit = await startProductionKit();
  ledger = await sqliteLedger(kit.folder, 'mints');
});
afterAll(() => kit.stop());
const { start, agrees } = productionOf(() => kit);

test('without a key nothing is minted, which the log, an alarm and figures say; with it, what waited is minted once', async () => {
  const without = { REWARDS_MINT_KEY: undefined };
  const first = await start(ledger, without);
  expect(first.log()).toContain('this process has no key to mint with');
  await first.stop();
  const wish = ['--to', account, '--amount', '7', '--reason', 'invoice 18', '--allow-sqlite'];
  const { envelope } = await rewardsJson(['mint', ...wish], { env: kit.environment(ledger) });
  expect(envelope.data.body).toMatchObject({ state: 'waiting', amount: 7 });
  // It was asked for long ago.
  const file = new Sqlite(ledger.slice('sqlite:'.length));
  file.exec("update operator_mints set created_at = 0 where kind = 'wallet'");
  file.close();

  const second = await start(ledger, without);
  await until('the alarm', () => second.log().includes('"alarm":"mint_waiting"'));
  expect(await second.metric('rewards_mints_waiting')).toBe(1);
  expect(await second.metric('rewards_mints_waiting_oldest_seconds')).toBeGreaterThan(60);
  await second.stop();

  const third = await start(ledger);
  expect(third.log()).not.toContain('this process has no key to mint with');
  const client = createPublicClient({ transport: http(kit.anvil.url) });
  const token = { address: kit.contracts.token, abi: rewardTokenAbi } as const;
  const held = () => client.readContract({ ...token, functionName: 'balanceOf', args: [account] });
  await until('the mint', async () => (await held()) === 7n);
  await until('the figure', async () => (await third.metric('rewards_mints_waiting')) === 0);
  // The chain has the mint before the service has read its block: ended in between, the service leaves it open.
  await until('the block is read', async () => (await third.inNoBlock('mint')) === 0);
  const { envelope: shown } = await rewardsJson(['lane', 'show', '--allow-sqlite'], {
    env: kit.environment(ledger),
  });
  expect(shown.error?.code).toBe('E_DATA_IN_USE');
  await third.stop();
  expect(await agrees(ledger)).toMatchObject({ mints: 2 });
  const { envelope: lanes } = await rewardsJson(['lane', 'show', '--allow-sqlite'], {
    env: kit.environment(ledger),
  });
  expect(lanes.data.lanes).toContainEqual(
    expect.objectContaining({ lane: kit.accounts.mint.address, purpose: 'mint', open: 0 }),
  );
});

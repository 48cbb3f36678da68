/** Mints that somebody sends by hand with the mint key, as the page of the first funding says: the service sees that they are made. */
import Sqlite from 'better-sqlite3';
import { createPublicClient, createWalletClient, type Hex, http } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
  ledger = await sqliteLedger(kit.folder, 'mints-by-hand');
});
afterAll(() => kit.stop());
const { start, agrees } = productionOf(() => kit);

test('a mint that somebody sends by hand settles by its block, in a process without the key; one that was sent long ago, at the next start', async () => {
  const without = { REWARDS_MINT_KEY: undefined };
  const client = createPublicClient({ transport: http(kit.anvil.url), pollingInterval: 50 });
  const byHand = createWalletClient({ account: kit.accounts.mint, transport: http(kit.anvil.url) });
  const ask = async (reason: string) => {
    const wish = ['--to', account, '--amount', '5', '--reason', reason, '--allow-sqlite'];
    const { envelope } = await rewardsJson(['mint', ...wish], { env: kit.environment(ledger) });
    return envelope.data.body.transaction as { to: Hex; data: Hex };
  };
  const send = async ({ to, data }: { to: Hex; data: Hex }) => {
    const hash = await byHand.sendTransaction({ to, data, chain: null });
    expect((await client.waitForTransactionReceipt({ hash })).status).toBe('success');
    return hash;
  };
  const onFile = <T>(work: (file: Sqlite.Database) => T): T => {
    const file = new Sqlite(ledger.slice('sqlite:'.length));
    try {
      return work(file);
    } finally {
      file.close();
    }
  };
  const asIfLongAgo = () => onFile((file) => file.exec('update operator_mints set created_at = 0'));
  const shown = (reason: string) =>
    onFile((file) =>
      file
        .prepare('select shown_hash, shown_block, transaction_id from operator_mints where reason = ?')
        .get(reason),
    ) as { shown_hash: Hex | null; shown_block: number | null; transaction_id: string | null };

  // The ledger belongs to a chain from its first start on.
  await (await start(ledger, without)).stop();
  const first = await ask('by hand');
  asIfLongAgo();
  const watching = await start(ledger, without);
  const isRaised = async () => (await watching.metric('rewards_alarms{code="mint_waiting"}')) === 1;
  await until('the alarm', isRaised);
  const hash = await send(first);
  await until('the end of the alarm', async () => !(await isRaised()));
  expect(await watching.metric('rewards_mints_waiting')).toBe(0);
  await watching.stop();
  expect(shown('by hand')).toMatchObject({ shown_hash: hash, transaction_id: null });

  // As an earlier version left it: the block was read, and nobody looked at what the sale says in it.
  const second = await ask('long ago');
  const reading = await start(ledger, without);
  await send(second);
  await until('the block is read', () => shown('long ago').shown_block !== null);
  await reading.stop();
  onFile((file) =>
    file.exec("update operator_mints set shown_hash = null, shown_block = null where reason = 'long ago'"),
  );
  asIfLongAgo();
  const later = await start(ledger, without);
  await until('the figure', async () => (await later.metric('rewards_mints_waiting')) === 0);
  expect(await later.metric('rewards_alarms{code="mint_waiting"}')).toBe(0);
  await later.stop();
  // Nothing was sent a second time.
  expect(shown('long ago')).toMatchObject({ transaction_id: null, shown_block: expect.any(Number) });
  expect(await agrees(ledger)).toMatchObject({ mints: 3 });
});

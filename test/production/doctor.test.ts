/** `rewards doctor` and its health check, on a machine that is well and on one that is not. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { gasWallets } from '../../src/ledger/schema/relay.ts';
import { rewards, rewardsJson, serve, temporaryDirectory } from '../kits/service/cli.ts';
import {
  brandId,
  type ProductionKit,
  sqliteLedger,
  startProduction,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let kit: ProductionKit;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const stacks: { stop(signal?: NodeJS.Signals): Promise<unknown> }[] = [];
beforeAll(async () => {
  [kit, project] = await Promise.all([startProductionKit(), temporaryDirectory()]);
});
afterEach(async () => {
  for (const one of stacks.splice(0)) await one.stop();
});
afterAll(() => Promise.all([kit.stop(), project.remove()]));

const machine = ['node', 'sqlite', 'anvil', 'variables', 'stack'];

test('a machine that is well: quiet says nothing at all', async () => {
  const loud = await rewards(['doctor', ...machine], { cwd: project.path });
  expect(loud.code).toBe(0);
  expect(loud.stdout).toContain(`Node ${process.versions.node}`);
  const quiet = await rewards(['doctor', '-q', ...machine], { cwd: project.path });
  expect(quiet).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

test('a variable that means nothing: one line, with what was probably meant', async () => {
  const env = { REWARDS_DATABSE_URL: 'x' };
  const { code, stdout, stderr } = await rewards(['doctor', '-q', ...machine], { cwd: project.path, env });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain('did you mean REWARDS_DATABASE_URL?');
});

test('every variable that the program names itself is known', async () => {
  const env = kit.environment('postgres://127.0.0.1:1/x', {
    REWARDS_PAYOUT_KEY_FILE: '/x',
    REWARDS_API_KEY: 'x',
  });
  const { envelope } = await rewardsJson(['doctor', 'variables'], { cwd: project.path, env });
  expect(envelope.data).toMatchObject({ ok: true });
});

test('database and nodes, where they are given', async () => {
  const env = {
    REWARDS_DATABASE_URL: 'postgres://rewards:hunter2@127.0.0.1:1/rewards',
    REWARDS_RPC_URL: `${kit.anvil.url},http://127.0.0.1:1`,
    REWARDS_CHAIN_ID: '1',
  };
  const { envelope, code, stdout } = await rewardsJson(['doctor', 'database', 'chain'], { env });
  expect([code, envelope.error.code]).toEqual([1, 'E_PROBLEMS']);
  const problems = envelope.error.details.problems.map(({ message }: { message: string }) => message);
  expect(problems).toEqual([
    'The database at 127.0.0.1:1/rewards cannot be reached: ECONNREFUSED',
    'node 1 is of chain 4242, REWARDS_CHAIN_ID says 1',
    expect.stringContaining('node 2'),
  ]);
  expect(stdout).not.toContain('hunter2');
});

test('money: every account that signs, brands’ gas wallets too, and how much to send where', async () => {
  const ledger = await sqliteLedger(kit.folder, 'money');
  const { relay, payout } = kit.accounts;
  const wallet = privateKeyToAddress(generatePrivateKey());
  const database = openSqlite(new URL(ledger).pathname);
  const at = { payer: brandId, keyIndex: 0, address: wallet, ready: true, createdAt: 0 };
  await database.db.insert(gasWallets).values(at);
  await database.close();
  const money = async () => {
    const env = kit.environment(ledger, { REWARDS_ALLOW_SQLITE: 'true' });
    const { envelope, code } = await rewardsJson(['doctor', 'money'], { env });
    return { code, found: envelope.data.findings as Record<string, string>[] };
  };
  const balances = async (of: Record<string, string>) => {
    for (const [address, wei] of Object.entries(of)) await kit.rpc('anvil_setBalance', [address, wei]);
  };
  const ether = (amount: number) => `0x${(BigInt(amount * 1000) * 10n ** 15n).toString(16)}`;

  await balances({ [wallet]: ether(3) });
  const well = await money();
  expect([well.code, well.found.map(({ message }) => message)]).toEqual([
    0,
    [
      ...(['payout', 'mint', 'redemption', 'relay'] as const).map((name) =>
        expect.stringMatching(`^the ${name} account ${kit.accounts[name].address} has [\\d.]+ for gas$`),
      ),
      `the gas wallet ${wallet} of brand ${brandId} has 3`,
    ],
  ]);

  try {
    await balances({ [payout.address]: '0x0', [relay.address]: ether(2), [wallet]: ether(0.5) });
    const { code, found } = await money();
    expect(code).toBe(1);
    const about = (address: string) => found.filter(({ message }) => message?.includes(address));
    expect(about(payout.address)).toEqual([
      {
        check: 'money',
        message: expect.stringMatching(
          / has 0 for gas, and one transaction takes up to 0\.\d+ at today's price$/,
        ),
        fix: expect.stringMatching(`^send at least 0\\.9 in the chain's currency to ${payout.address}, `),
      },
    ]);
    expect(about(wallet)).toEqual([
      {
        check: 'money',
        message: expect.stringMatching(/ has 0\.5; the service fills it up to 3 out of the/),
      },
    ]);
    expect(about(relay.address)).toEqual([
      { check: 'money', message: expect.stringMatching(/ has 2 for gas$/) },
      {
        check: 'money',
        message: expect.stringMatching(/ has 2 for gas, and needs 2\.5 to fill up 1 gas wallet of brands$/),
        fix: `send at least 0.5 in the chain's currency to ${relay.address}`,
      },
    ]);
  } finally {
    await balances({ [payout.address]: ether(1000), [relay.address]: ether(1000) });
  }
});

/** Listens on a free port until the work is done. */
async function onTakenPort<T>(work: (port: string) => Promise<T>): Promise<T> {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  try {
    return await work(String((holder.address() as AddressInfo).port));
  } finally {
    holder.close();
  }
}

/** A port that was free a moment ago. */
const freePort = () => onTakenPort(async (port) => port);

const portsOf = async (env: Record<string, string>) =>
  (await rewardsJson(['doctor', 'ports'], { cwd: project.path, env })).envelope.data.findings;

const held = `taken by .+ \\(pid ${process.pid}\\)`;

test('ports of the emulator: what each is for, and who holds it', async () => {
  const free = await freePort();
  await onTakenPort(async (port) => {
    expect(await portsOf({ REWARDS_DEV_PORT: free, REWARDS_DEV_RPC_PORT: port })).toEqual([
      { check: 'ports', message: `port ${free} is free for the API` },
      {
        check: 'ports',
        message: expect.stringMatching(`^port ${port}, for the local chain, is ${held}$`),
        fix: 'stop it, or give another port with --rpc-port (REWARDS_DEV_RPC_PORT)',
      },
    ]);
  });
});

test('ports of a production host: its own, and none of the emulator', async () => {
  const free = await freePort();
  const database = { REWARDS_DATABASE_URL: 'postgres://127.0.0.1:1/rewards' };
  await onTakenPort(async (port) => {
    expect(await portsOf({ ...database, REWARDS_PORT: free, REWARDS_ADMIN_PORT: port })).toEqual([
      { check: 'ports', message: `port ${free} is free for the API` },
      {
        check: 'ports',
        message: expect.stringMatching(`^port ${port}, for health and metrics, is ${held}$`),
        fix: 'stop it, or give another port with --admin-port (REWARDS_ADMIN_PORT)',
      },
    ]);
  });
});

test('an unknown check is a usage error that names them all', async () => {
  const { code, stderr } = await rewards(['doctor', 'nose']);
  expect(code).toBe(2);
  expect(stderr).toContain('node, sqlite, anvil');
});

test('the health check follows the stack of this folder, or production', async () => {
  const nothing = await rewards(['doctor', 'healthcheck'], {
    cwd: project.path,
    env: { REWARDS_ADMIN_PORT: '1' },
  });
  expect(nothing.code).toBe(1);
  const ledger = await sqliteLedger(kit.folder, 'health');
  const started = await startProduction(kit.environment(ledger, { REWARDS_ALLOW_SQLITE: 'true' }));
  stacks.push(started);
  const env = { REWARDS_ADMIN_PORT: new URL(started.ready.urls.admin).port };
  expect((await rewards(['doctor', 'healthcheck'], { cwd: project.path, env })).code).toBe(0);
  const ports = {
    ...env,
    REWARDS_DATABASE_URL: ledger,
    REWARDS_PORT: new URL(started.ready.urls.events ?? '').port,
  };
  expect((await portsOf(ports)).map(({ message }: { message: string }) => message)).toEqual([
    `port ${ports.REWARDS_PORT}, for the API, is used by the service that runs here`,
    `port ${ports.REWARDS_ADMIN_PORT}, for health and metrics, is used by the service that runs here`,
  ]);
  const stack = await serve(['--ephemeral', '--port', '0'], { cwd: project.path });
  stacks.push(stack);
  expect((await rewards(['doctor', 'healthcheck'], { cwd: project.path })).code).toBe(0);
  const found = await rewardsJson(['doctor', 'stack'], { cwd: project.path });
  expect(found.envelope.data.findings[0].message).toMatch(/ is healthy$/);

  const verified = await rewardsJson(['verify'], { cwd: project.path });
  expect(verified).toMatchObject({ code: 0, envelope: { data: { ok: true, differences: [] } } });
  const text = await rewards(['verify'], { cwd: project.path });
  expect(text.stdout).toMatch(/^ledger and chain agree up to block \d+: .*\b1 brand\b/);
});

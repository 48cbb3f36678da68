/** `rewards start` as an operator meets it: what keeps it from starting. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { createWalletClient, http } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import { roleId } from '../../src/chain/contracts/deployment-steps.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { startAnvil } from '../kits/chain/chain.ts';
import { startRpcProxy } from '../kits/chain/rpc-proxy.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import {
  type ProductionKit,
  sqliteLedger,
  startProduction,
  startProductionKit,
  wellKnownKey,
} from '../kits/service/production.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let kit: ProductionKit;
let ledger: string;

beforeAll(async () => {
  kit = await startProductionKit();
  ledger = await sqliteLedger(kit.folder, 'check');
});
afterAll(() => kit.stop());

/** `rewards start --check` with a setting or two changed. */
async function check(change: Record<string, string | undefined> = {}, databaseUrl = ledger) {
  const env = kit.environment(databaseUrl, { REWARDS_ALLOW_SQLITE: 'true', ...change });
  const { code, envelope, stderr, stdout } = await rewardsJson(['start', '--check'], { env });
  const problems: { code: string; message: string; fix: string }[] = envelope.error?.details?.problems ?? [];
  return { code, error: envelope.error, data: envelope.data, problems, output: stdout + stderr };
}

/** Refused with exactly this code, with something to say and something to do. */
async function expectRefusal(
  code: string,
  message: RegExp,
  change: Record<string, string | undefined>,
  databaseUrl = ledger,
) {
  const result = await check(change, databaseUrl);
  expect(result.problems.map((problem) => problem.code)).toContain(code);
  const problem = result.problems.find((one) => one.code === code);
  expect(problem?.message).toMatch(message);
  expect(problem?.fix.length).toBeGreaterThan(10);
  expect(result.error.code).toBe(code);
  expect(result.code).toBe(/^E_START/.test(code) ? 75 : 5);
  return result;
}

test('with nothing wrong, --check says so and changes nothing', async () => {
  const { code, data, output } = await check();
  expect(data).toEqual({ ok: true, problems: [] });
  expect(code).toBe(0);
  for (const key of Object.values(kit.keys)) expect(output).not.toContain(key);
  const database = openSqlite(ledger.slice('sqlite:'.length));
  const { readFact } = await import('../../src/ledger/facts.ts');
  expect(await readFact(database.db, 'chain')).toBeUndefined();
  await database.close();
});

describe('refused:', () => {
  test('well-known keys', async () => {
    await expectRefusal('E_PROD_DEV_KEY', /payout key/, { REWARDS_PAYOUT_KEY: wellKnownKey });
    const one = `0x${'1'.padStart(64, '0')}`;
    await expectRefusal('E_PROD_DEV_KEY', /relay key/, { REWARDS_RELAY_KEY: one });
  });

  test('wallets of a well-known mnemonic', async () => {
    const { keyTree } = await import('../../src/chain/lane/local-key.ts');
    const { DEV_MNEMONIC, DEV_WALLETS_PATH } = await import('../../src/lib/development.ts');
    const xpub = keyTree(DEV_MNEMONIC).extendedPublicKeyAt(DEV_WALLETS_PATH);
    await expectRefusal('E_PROD_DEV_KEY', /mnemonic/, { REWARDS_WALLETS_XPUB: xpub });
  });

  test('the development chain', async () => {
    await expectRefusal('E_PROD_DEV_CHAIN', /31337/, { REWARDS_CHAIN_ID: '31337' });
    const anvil = await startAnvil();
    const { problems } = await check({ REWARDS_RPC_URL: `${kit.anvil.url},${anvil.url}` });
    await anvil.stop();
    expect(problems.map(({ code }) => code)).toContain('E_PROD_DEV_CHAIN');
    expect(problems.map(({ code }) => code)).toContain('E_PROD_WRONG_CHAIN');
  });

  test('SQLite, unless it is allowed', async () => {
    await expectRefusal('E_PROD_SQLITE', /one process/, { REWARDS_ALLOW_SQLITE: 'false' });
  });

  test('pending migrations', async () => {
    const dir = await mkdtemp(join(kit.folder, 'empty-'));
    await expectRefusal('E_MIGRATIONS_PENDING', /0001-ledger/, {}, `sqlite:${join(dir, 'ledger.sqlite')}`);
  });

  test('one key for two accounts', async () => {
    await expectRefusal('E_PROD_SHARED_KEY', /payout and mint/, { REWARDS_MINT_KEY: kit.keys.payout });
  });

  test('a key file that everybody can read', async () => {
    const open = await kit.secretFile(kit.keys.payout, 0o644);
    const change = { REWARDS_PAYOUT_KEY: undefined, REWARDS_PAYOUT_KEY_FILE: open };
    const { output } = await expectRefusal('E_PROD_KEY_FILE', /everybody/, change);
    expect(output).not.toContain(kit.keys.payout);
    const closed = await kit.secretFile(kit.keys.payout, 0o440);
    expect((await check({ ...change, REWARDS_PAYOUT_KEY_FILE: closed })).code).toBe(0);
  });

  test('another chain than the settings or the ledger say', async () => {
    await expectRefusal('E_PROD_WRONG_CHAIN', /4242.*4243/, { REWARDS_CHAIN_ID: '4243' });
    const path = await sqliteLedger(kit.folder, 'other');
    const database = openSqlite(path.slice('sqlite:'.length));
    const { writeFact } = await import('../../src/ledger/facts.ts');
    const { block, ...contracts } = kit.contracts;
    const facts = { chainId: 4242, deploymentBlock: Number(block), contracts };
    await writeFact(database.db, 'chain', { ...facts, genesisHash: `0x${'77'.repeat(32)}` });
    await database.close();
    await expectRefusal('E_PROD_WRONG_CHAIN', /first block/, {}, path);
  });

  test('contracts that are missing, of other code, or other ones than before', async () => {
    const nowhere = `0x${'99'.repeat(20)}`;
    await expectRefusal('E_PROD_CONTRACTS', /escrow.*no code/, { REWARDS_ESCROW_ADDRESS: nowhere });
    const change = { REWARDS_ESCROW_ADDRESS: kit.contracts.token };
    await expectRefusal('E_PROD_CONTRACTS', /escrow.*other code/, change);
  });

  test('an account without its role', async () => {
    await expectRefusal('E_PROD_ROLE', /DISTRIBUTOR_ROLE/, { REWARDS_PAYOUT_KEY: generatePrivateKey() });
    await expectRefusal('E_PROD_ROLE', /OPERATOR_ROLE/, { REWARDS_MINT_KEY: generatePrivateKey() });
    await expectRefusal('E_PROD_ROLE', /RELAYER_ROLE/, { REWARDS_RELAY_KEY: generatePrivateKey() });
    const stranger = { REWARDS_REDEMPTION_KEY: generatePrivateKey() };
    await expectRefusal('E_PROD_ROLE', /REDEEMER_ROLE/, stranger);
  });

  test('a relay account with power that its callers could misuse', async () => {
    const { admin, relay } = kit.accounts;
    const wallet = createWalletClient({ transport: http(kit.anvil.url), account: admin });
    const role = (functionName: 'grantRole' | 'revokeRole') =>
      wallet.writeContract({
        chain: null,
        address: kit.contracts.escrow,
        abi: rewardTokenAbi,
        functionName,
        args: [roleId('REDEMPTION_ROLE'), relay.address],
      });
    await role('grantRole');
    await expectRefusal('E_PROD_RELAY_POWER', /escrow.REDEMPTION_ROLE/, {});
    await role('revokeRole');
    expect((await check()).code).toBe(0);
  });

  test('unchecked certificates', async () => {
    await expectRefusal('E_PROD_TLS', /NODE_TLS/, { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
  });

  test('a single node, unless it is allowed', async () => {
    const change = { REWARDS_RPC_URL: `${kit.anvil.url},${kit.anvil.url}` };
    await expectRefusal('E_PROD_SINGLE_RPC', /one chain node/, change);
    expect((await check({ ...change, REWARDS_ALLOW_SINGLE_RPC: 'true' })).code).toBe(0);
  });

  test('emulated parts', async () => {
    await expectRefusal('E_PROD_EMULATED', /payments/, { REWARDS_PAYMENTS: 'emulated' });
    await expectRefusal('E_PROD_EMULATED', /identity/, { REWARDS_IDENTITY: 'emulated' });
  });

  test('wallets of another key tree than before', async () => {
    const path = await sqliteLedger(kit.folder, 'wallets');
    const database = openSqlite(path.slice('sqlite:'.length));
    const { wallets } = await import('../../src/ledger/schema/wallets.ts');
    const wallet = { userKey: 'a@b.example', address: kit.contracts.token, derivationIndex: 0, createdAt: 0 };
    await database.db.insert(wallets).values(wallet);
    await database.close();
    await expectRefusal('E_PROD_WALLETS', /gave users/, {}, path);
  });

  test('every missing setting at once, with exit 2', async () => {
    const { envelope, code } = await rewardsJson(['start', '--check'], { env: {} });
    expect(code).toBe(2);
    expect(envelope.error.code).toBe('E_SETTINGS');
    for (const name of [
      'DATABASE_URL',
      'RPC_URL',
      'CHAIN_ID',
      'ESCROW_ADDRESS',
      'PAYOUT_KEY',
      'WALLETS_XPUB',
    ])
      expect(envelope.error.message).toContain(`REWARDS_${name} is not set`);
  });

  test('a malformed key, which is not repeated', async () => {
    const secret = 'correct horse battery staple';
    const { error, code, output } = await check({ REWARDS_PAYOUT_KEY: secret });
    expect([code, error.code]).toEqual([2, 'E_SETTINGS']);
    expect(output).not.toContain('horse');
  });

  test('ports and networks that are none, each by its name', async () => {
    const { error, code } = await check({
      REWARDS_OUTGOING_PORT: '8443,0,70000,https',
      REWARDS_OUTGOING_NETWORK:
        '10.1.0.0/16,fd00::/8,10.0.0.1,0.0.0.0/0,10.0.0.0/33,::/129,fe80::1%lo,lan,1.2.3.4/8/9',
    });
    expect([code, error.code]).toEqual([2, 'E_SETTINGS']);
    const named = [...error.message.matchAll(/REWARDS_OUTGOING_(?:PORT|NETWORK): (\S+) is not/g)];
    expect(named.map(([, text]) => text)).toEqual([
      ...['0', '70000', 'https'],
      ...['0.0.0.0/0', '10.0.0.0/33', '::/129', 'fe80::1%lo', 'lan', '1.2.3.4/8/9'],
    ]);
  });

  test('several things are all said, and the lasting one decides', async () => {
    const { problems, code, error } = await check({
      REWARDS_RPC_URL: 'http://127.0.0.1:1',
      REWARDS_PAYMENTS: 'emulated',
    });
    expect(problems.map((one) => one.code).sort()).toEqual([
      'E_PROD_EMULATED',
      'E_PROD_SINGLE_RPC',
      'E_START_RPC',
    ]);
    expect(code).toBe(5);
    expect(error.message).toContain(
      'also E_START_RPC: no chain node answers; check the addresses and the network',
    );
  });
});

describe('passing by itself:', () => {
  test('no node answers: exit 75', async () => {
    await expectRefusal('E_START_RPC', /no chain node/, {
      REWARDS_RPC_URL: 'http://127.0.0.1:1,http://127.0.0.1:2',
    });
  });
  test('the database does not answer: exit 75', async () => {
    const { output } = await expectRefusal(
      'E_START_DATABASE',
      /database does not answer while it was asked for its owner, settings and tables: ECONNREFUSED/,
      {},
      'postgres://rewards:hunter2@127.0.0.1:1/rewards',
    );
    expect(output).not.toContain('hunter2');
  });
  test('one of two nodes is away: a check says so, and a start goes on with a warning', async () => {
    const one = { REWARDS_RPC_URL: `http://127.0.0.1:1,${kit.anvil.url}` };
    await expectRefusal('E_PROD_NODE_AWAY', /chain node 1 does not answer/, one);
    const env = kit.environment(await sqliteLedger(kit.folder, 'away'), {
      REWARDS_ALLOW_SQLITE: 'true',
      ...one,
    });
    const service = await startProduction(env);
    const warned = service.logLines().find(({ code }) => code === 'E_PROD_NODE_AWAY');
    expect(warned).toMatchObject({ level: 'warn', message: 'chain node 1 does not answer' });
    await service.stop();
  });
});

test('nodes and Postgres on other machines: with TLS, or allowed by name', async () => {
  const urls = 'http://node.example:1,https://node.example:2';
  await expectRefusal('E_PROD_PLAIN_RPC', /without TLS/, { REWARDS_RPC_URL: urls });
  const allowed = await check({ REWARDS_RPC_URL: urls, REWARDS_ALLOW_PLAIN_RPC: 'true' });
  expect(allowed.problems.map(({ code }) => code)).not.toContain('E_PROD_PLAIN_RPC');
  const plain = 'postgres://rewards@db.invalid/x';
  for (const url of [plain, `${plain}?sslmode=disable`, `${plain}?sslmode=no-verify`])
    await expectRefusal('E_PROD_PLAIN_DATABASE', /without TLS/, {}, url);
  for (const [url, change] of [
    [`${plain}?sslmode=verify-full`, {}],
    [plain, { REWARDS_ALLOW_PLAIN_DATABASE: 'true' }],
    ['postgres://rewards@127.0.0.1:1/x', {}],
  ] as const) {
    const { problems } = await check(change, url);
    expect(problems.map(({ code }) => code)).not.toContain('E_PROD_PLAIN_DATABASE');
  }
});

describe('the deployment block:', () => {
  const at = (block: number) => ({ REWARDS_DEPLOYMENT_BLOCK: String(block) });
  const first = () => Number(kit.contracts.block);

  test.each([
    ['before the first contract', () => first() - 1, /none of the contracts was there/],
    ['after the first deposit', () => first() + 30, /escrow was there before it/],
  ])('a block %s is refused, with the right one', async (_what, block, message) => {
    await kit.rpc('anvil_mine', ['0x28']);
    const { problems } = await expectRefusal('E_PROD_DEPLOYMENT_BLOCK', message, at(block()));
    expect(problems).toHaveLength(1);
    expect(problems[0]?.fix).toBe(`set REWARDS_DEPLOYMENT_BLOCK to ${first()}`);
  });

  test('a block that is not there yet is refused', async () => {
    const message = /REWARDS_DEPLOYMENT_BLOCK is 999999, and the newest block is \d+/;
    await expectRefusal('E_PROD_DEPLOYMENT_BLOCK', message, at(999_999));
  });

  test("where no node keeps old state, a warning says that nobody compared it; one node's state is enough", async () => {
    const node = await startRpcProxy({ target: kit.anvil.url });
    node.add({ fault: 'no-old-state', method: /^eth_getCode$/ });
    const both = await check({ ...at(first() + 30), REWARDS_RPC_URL: `${node.url},${node.url}/?2` });
    expect(both.code).toBe(0);
    expect(both.output).toContain('no node keeps the state of so old a block');
    const one = await check({ ...at(first() + 30), REWARDS_RPC_URL: `${node.url},${kit.anvil.url}` });
    await node.stop();
    expect(one.error.code).toBe('E_PROD_DEPLOYMENT_BLOCK');
  });

  test('a ledger that was begun with another block keeps it, and a warning says so', async () => {
    const path = await sqliteLedger(kit.folder, 'begun');
    const database = openSqlite(path.slice('sqlite:'.length));
    const { writeFact } = await import('../../src/ledger/facts.ts');
    const { block, ...contracts } = kit.contracts;
    const { hash } = (await kit.rpc('eth_getBlockByNumber', ['0x0', false])) as { hash: `0x${string}` };
    const facts = { chainId: 4242, deploymentBlock: Number(block), contracts, genesisHash: hash };
    await writeFact(database.db, 'chain', facts);
    await database.close();
    const { code, output } = await check(at(0), path);
    expect(code).toBe(0);
    expect(output).toContain(`REWARDS_DEPLOYMENT_BLOCK is 0, and this ledger was begun with ${block}`);
  });
});

test('a variable that nothing reads is warned of', async () => {
  const { code, output } = await check({ REWARDS_PYOUT_KEY_FILE: '/x' });
  expect(code).toBe(0);
  expect(output).toContain('REWARDS_PYOUT_KEY_FILE is set, but rewards does not read it');
  expect(output).toContain('did you mean REWARDS_PAYOUT_KEY_FILE?');
});

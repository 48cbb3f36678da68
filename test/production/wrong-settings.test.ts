/** `rewards start --check` with a setting that is wrong: each is named, with what to do about it. */
import { chmod, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { rewardsJson } from '../kits/service/cli.ts';
import { type ProductionKit, sqliteLedger, startProductionKit } from '../kits/service/production.ts';

// Each starts a process of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let kit: ProductionKit;
let ledger: string;
const servers: Server[] = [];
beforeAll(async () => {
  kit = await startProductionKit();
  ledger = await sqliteLedger(kit.folder, 'wrong');
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => kit.stop());

type Change = Record<string, string | undefined>;

async function check(change: Change) {
  const env = kit.environment(ledger, { REWARDS_ALLOW_SQLITE: 'true', ...change });
  const { code, envelope, stderr } = await rewardsJson(['start', '--check'], { env });
  const problems: { code: string; message: string; fix: string }[] = envelope.error?.details?.problems ?? [];
  return {
    exit: code,
    code: envelope.error?.code,
    hint: envelope.error?.hint,
    problems,
    message: envelope.error?.message,
    stderr,
  };
}

/** Refused with exactly this problem, its exit code and a fix. */
async function expectRefused(change: Change, code: string, message: RegExp) {
  const seen = await check(change);
  expect([seen.code, seen.message]).toEqual([code, expect.stringMatching(message)]);
  expect(seen.exit).toBe(/^E_(?:SETTINGS|USAGE)$/.test(code) ? 2 : 5);
  expect(seen.hint.length).toBeGreaterThan(10);
  if (code !== 'E_USAGE') expect(seen.problems).toHaveLength(1);
  for (const { fix } of seen.problems) expect(fix.length).toBeGreaterThan(10);
}

/** A server of this machine; `answer` is asked for what it says. */
async function serverOf(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const oidc = (issuer: string, more: Change = {}): Change => ({
  REWARDS_IDENTITY: 'oidc',
  REWARDS_IDENTITY_ISSUER: issuer,
  REWARDS_IDENTITY_AUDIENCE: 'rewards',
  REWARDS_EXPLORER_URL: 'https://explorer.example',
  ...more,
});

/** A provider that is as it should be, under a path. */
async function provider(keys: string | undefined = undefined): Promise<string> {
  const { publicKey } = await generateKeyPair('ES256');
  const jwks =
    keys ?? JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }] });
  const issuer = await serverOf((request, response) => {
    const documents: Record<string, string> = {
      '/.well-known/openid-configuration': JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }),
      '/keys': jwks,
    };
    const text = documents[request.url ?? ''];
    response.writeHead(text === undefined ? 404 : 200).end(text);
  });
  return issuer;
}

describe('an identity provider', () => {
  test('that answers with its keys is right', async () => {
    expect((await check(oidc(await provider()))).exit).toBe(0);
  });
  test('that is away', () =>
    expectRefused(oidc('http://127.0.0.1:1'), 'E_PROD_IDENTITY', /ISSUER=http:\/\/127\.0\.0\.1:1: .+/));
  test('at another path', async () =>
    expectRefused(oidc(`${await provider()}/realms/x`), 'E_PROD_IDENTITY', /answered 404/));
  test('with a slash too many', async () => {
    const issuer = await provider();
    await expectRefused(oidc(`${issuer}/`), 'E_PROD_IDENTITY', new RegExp(`another issuer: ${issuer}$`));
  });
  test('whose keys are a web page', async () =>
    expectRefused(oidc(await provider('<html>Welcome')), 'E_PROD_IDENTITY', /is not JSON/));
  test('whose keys are at an address of their own, and a web page', async () => {
    const issuer = await provider();
    const page = await serverOf((_request, response) => response.end('<html>'));
    const change = oidc(issuer, { REWARDS_IDENTITY_JWKS_URL: page });
    await expectRefused(change, 'E_PROD_IDENTITY', /REWARDS_IDENTITY_JWKS_URL=.*is not JSON/);
  });
});

test('a processor that cannot be asked', async () => {
  const change = {
    REWARDS_PAYMENTS: 'stripe',
    REWARDS_STRIPE_SECRET_KEY: 'sk_live_51NobodyHasThisKey0123456789',
    REWARDS_STRIPE_WEBHOOK_SECRET: 'whsec_NobodySignsWithThis0123456789',
    REWARDS_EXPLORER_URL: 'https://explorer.example',
  };
  await expectRefused(change, 'E_PROD_PAYMENTS', /the payment processor cannot be asked: .+/);
});

describe('where it listens, and who stands before it:', () => {
  test.each<[string, Change, string, RegExp]>([
    [
      'a proxy by its name',
      { REWARDS_TRUST_PROXY: 'nginx' },
      'E_SETTINGS',
      /TRUST_PROXY: nginx is not an address/,
    ],
    ['no proxy', { REWARDS_TRUST_PROXY: undefined }, 'E_SETTINGS', /REWARDS_TRUST_PROXY is not set/],
    [
      'everybody as proxy',
      { REWARDS_TRUST_PROXY: '0.0.0.0/0' },
      'E_PROD_TRUST_PROXY',
      /0\.0\.0\.0\/0 trusts strangers/,
    ],
    [
      'half of IPv6 as proxy',
      { REWARDS_TRUST_PROXY: '10.0.0.1,8000::/1' },
      'E_PROD_TRUST_PROXY',
      /=8000::\/1 trusts/,
    ],
    [
      'an address of no interface',
      { REWARDS_HOST: '192.0.2.7' },
      'E_LISTEN',
      /REWARDS_HOST: 192\.0\.2\.7 is not an address of this machine/,
    ],
    ['a host of no form', { REWARDS_ADMIN_HOST: 'a b' }, 'E_SETTINGS', /ADMIN_HOST: a b is neither/],
    [
      'one port for two',
      { REWARDS_PORT: '18787', REWARDS_ADMIN_PORT: '18787' },
      'E_SETTINGS',
      /are both 18787/,
    ],
    [
      'a public host that is a URL',
      { REWARDS_PUBLIC_HOST: 'https://rewards.example/x' },
      'E_SETTINGS',
      /https:\/\/rewards\.example\/x is not a host name/,
    ],
    [
      'a prefix with a space',
      { REWARDS_API_PREFIX: '/rewards api' },
      'E_SETTINGS',
      /\/rewards api is not a path/,
    ],
    [
      'a domain with a space',
      { REWARDS_OWN_DOMAIN: 'foo bar' },
      'E_SETTINGS',
      /OWN_DOMAIN: foo bar is not a host name/,
    ],
  ])('%s', (_what, change, code, message) => expectRefused(change, code, message));

  test('a port that is taken', async () => {
    const { port } = new URL(await serverOf((_request, response) => response.writeHead(404).end()));
    await expectRefused(
      { REWARDS_PORT: port },
      'E_PORT_TAKEN',
      new RegExp(`REWARDS_PORT: port ${port} is taken`),
    );
  });
});

describe('fees and blocks:', () => {
  test.each<[string, Change, string, RegExp]>([
    [
      'a priority fee above the cap',
      { REWARDS_PRIORITY_FEE_GWEI: '5', REWARDS_FEE_CAP_GWEI: '4' },
      'E_SETTINGS',
      /PRIORITY_FEE_GWEI \(5\) is more than REWARDS_FEE_CAP_GWEI \(4\)/,
    ],
    [
      'finality before confirmation',
      { REWARDS_FINALITY_BLOCKS: '2', REWARDS_CONFIRMATIONS: '3' },
      'E_SETTINGS',
      /FINALITY_BLOCKS \(2\) is less than REWARDS_CONFIRMATIONS \(3\)/,
    ],
    ['no lag at all', { REWARDS_BLOCK_LAG_MAX: '0s' }, 'E_USAGE', /REWARDS_BLOCK_LAG_MAX=0s is not accepted/],
    [
      'a lag shorter than a poll',
      { REWARDS_BLOCK_LAG_MAX: '1s', REWARDS_BLOCK_POLL: '2s' },
      'E_SETTINGS',
      /BLOCK_LAG_MAX is not longer than REWARDS_BLOCK_POLL/,
    ],
    [
      'an offer too small for one reward',
      { REWARDS_OFFER_MAX: '0.000001' },
      'E_SETTINGS',
      /does not pay for a single reward/,
    ],
    [
      'a full wallet below an empty one',
      { REWARDS_GAS_FULL: '1', REWARDS_GAS_LOW: '2' },
      'E_SETTINGS',
      /GAS_FULL \(1\) must be more than REWARDS_GAS_LOW \(2\)/,
    ],
  ])('%s', (_what, change, code, message) => expectRefused(change, code, message));

  test('a cap below what the chain asks', async () => {
    await kit.rpc('anvil_setNextBlockBaseFeePerGas', ['0x77359400']);
    await kit.rpc('anvil_mine', ['0x1']);
    const change = { REWARDS_FEE_CAP_GWEI: '0.1', REWARDS_PRIORITY_FEE_GWEI: '0.1' };
    await expectRefused(change, 'E_PROD_FEE_CAP', /asks \d[\d.]* gwei .* REWARDS_FEE_CAP_GWEI is 0\.1/);
  });
});

describe('nodes:', () => {
  test('one of two is away', () =>
    expectRefused(
      { REWARDS_RPC_URL: `${kit.anvil.url},http://127.0.0.1:1` },
      'E_PROD_NODE_AWAY',
      /chain node 2 does not answer/,
    ));
  test('one in two spellings', () => {
    const other = `${kit.anvil.url.replace('127.0.0.1', 'localhost')}/`;
    return expectRefused(
      { REWARDS_RPC_URL: `${kit.anvil.url},${other}` },
      'E_PROD_SINGLE_RPC',
      /one chain node/,
    );
  });
});

describe('secrets:', () => {
  const inFile = async (name: string, text: string, mode: number): Promise<Change> => {
    const path = join(kit.folder, `${name}-${mode.toString(8)}`);
    await writeFile(path, text);
    await chmod(path, mode);
    return { [name]: undefined, [`${name}_FILE`]: path };
  };

  test('a database address that everybody can read', async () =>
    expectRefused(
      await inFile('REWARDS_DATABASE_URL', ledger, 0o644),
      'E_PROD_KEY_FILE',
      /everybody .* secret in .*DATABASE_URL-644/,
    ));
  test("a processor's key that everybody can read", async () => {
    const seen = await check({
      REWARDS_PAYMENTS: 'stripe',
      ...(await inFile('REWARDS_STRIPE_SECRET_KEY', 'sk_live_51NobodyHasThisKey0123456789', 0o644)),
      REWARDS_STRIPE_WEBHOOK_SECRET: 'whsec_NobodySignsWithThis0123456789',
      REWARDS_EXPLORER_URL: 'https://explorer.example',
    });
    expect([seen.exit, seen.problems.map(({ code }) => code)]).toEqual([5, ['E_PROD_KEY_FILE']]);
  });
  test('a key that is given both ways', async () => {
    const change = {
      ...(await inFile('REWARDS_PAYOUT_KEY', kit.keys.payout, 0o400)),
      REWARDS_PAYOUT_KEY: kit.keys.payout,
    };
    await expectRefused(change, 'E_SETTINGS', /REWARDS_PAYOUT_KEY is set both by itself and by a file/);
  });
  test.each(['', ' \n\n'])('a file with %j in it', async (text) => {
    for (const name of [
      'REWARDS_PAYOUT_KEY',
      'REWARDS_MINT_KEY',
      'REWARDS_RELAY_KEY',
      'REWARDS_REDEMPTION_KEY',
    ])
      await expectRefused(
        await inFile(name, text, 0o400),
        'E_SETTINGS',
        new RegExp(`${name}_FILE: .* is empty`),
      );
  });
  test.each(['', '  '])('a variable that is %j', async (text) => {
    for (const name of [
      'REWARDS_PAYOUT_KEY',
      'REWARDS_MINT_KEY',
      'REWARDS_RPC_URL',
      'REWARDS_OWN_DOMAIN',
      'REWARDS_TRUST_PROXY',
    ])
      await expectRefused({ [name]: text }, 'E_SETTINGS', new RegExp(`${name} is set, but empty`));
    await expectRefused(
      { REWARDS_PAYOUT_KEY: undefined, REWARDS_PAYOUT_KEY_FILE: text },
      'E_SETTINGS',
      /REWARDS_PAYOUT_KEY_FILE is set, but empty/,
    );
  });
  test('a key of no account', () =>
    expectRefused(
      { REWARDS_RELAY_KEY: `0x${'0'.repeat(64)}` },
      'E_SETTINGS',
      /REWARDS_RELAY_KEY is not a private key/,
    ));
  test('an extended public key with a slip of the pen', () => {
    const xpub = kit.walletsXpub.slice(0, -1) + (kit.walletsXpub.endsWith('a') ? 'b' : 'a');
    return expectRefused(
      { REWARDS_WALLETS_XPUB: xpub },
      'E_SETTINGS',
      /REWARDS_WALLETS_XPUB is not an extended public key/,
    );
  });
});

describe('gas money:', () => {
  const withBalance = async (name: 'payout' | 'relay' | 'mint' | 'redemption', wei: string) => {
    await kit.rpc('anvil_setBalance', [kit.accounts[name].address, wei]);
    try {
      return await check({});
    } finally {
      await kit.rpc('anvil_setBalance', [kit.accounts[name].address, '0x3635c9adc5dea00000']);
    }
  };
  test.each(['payout', 'relay', 'mint', 'redemption'] as const)(
    'the %s account has nothing',
    async (name) => {
      const { exit, problems } = await withBalance(name, '0x0');
      const { address } = kit.accounts[name];
      expect([exit, problems.length]).toEqual([5, 1]);
      expect(problems[0]).toMatchObject({
        code: 'E_PROD_GAS_MONEY',
        message: expect.stringMatching(new RegExp(`the ${name} account ${address} has 0 for gas`)),
        fix: expect.stringMatching(new RegExp(`^send at least 0\\.\\d+ .* to ${address}$`)),
      });
    },
  );
  test('enough for today and not for the cap is a warning', async () => {
    const { exit, stderr } = await withBalance('payout', '0x6f05b59d3b20000');
    expect(exit).toBe(0);
    expect(stderr).toMatch(
      /payout account 0x\w+ has 0\.5 for gas, and one transaction takes up to 0\.9 at REWARDS_FEE_CAP_GWEI/,
    );
  });
});

test('a key of an account without money and role: both are said', async () => {
  const { problems } = await check({ REWARDS_PAYOUT_KEY: generatePrivateKey() });
  expect(problems.map(({ code }) => code)).toEqual(['E_PROD_ROLE', 'E_PROD_GAS_MONEY']);
});

test('several settings at once are all named, each with a fix of its own', async () => {
  const { exit, problems } = await check({
    REWARDS_TRUST_PROXY: 'nginx',
    REWARDS_OWN_DOMAIN: 'foo bar',
    REWARDS_MINT_KEY: '',
  });
  expect(exit).toBe(2);
  expect(problems.map(({ code }) => code)).toEqual(['E_SETTINGS', 'E_SETTINGS', 'E_SETTINGS']);
  expect(new Set(problems.map(({ fix }) => fix)).size).toBe(3);
});

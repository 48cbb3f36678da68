/** The relay of a production server: users of another project's identity provider, gas wallets that grow from one key. */
import { base64url, CompactSign, importJWK, type JWK } from 'jose';
import { createWalletClient, encodeFunctionData, type Hex, http, parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { perkNFTAbi } from '../../src/chain/contracts/abis.ts';
import { roleId } from '../../src/chain/contracts/deployment-steps.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { findGasWallet } from '../../src/ledger/relay/gas-wallets.ts';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { AUDIENCE, type Issuer, startIssuer } from '../kits/service/foreign-users.ts';
import {
  brandId,
  type ProductionKit,
  type Started,
  sqliteLedger,
  startProduction,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const user = privateKeyToAccount(generatePrivateKey());
let kit: ProductionKit;
let issuer: Issuer;
let key: JWK & { kid: string };
let service: Started;
let ledger: string;
let env: Record<string, string>;
beforeAll(async () => {
  kit = await startProductionKit();
  issuer = await startIssuer();
  key = issuer.key;
  await perks('setPerk', [1n, 0n, 2n ** 256n - 1n, brandId, true]);
  ledger = await sqliteLedger(kit.folder, 'relay');
  env = kit.environment(ledger, {
    REWARDS_ALLOW_SQLITE: 'true',
    ...issuer.settings,
    REWARDS_GAS_LOW: '0.5',
    REWARDS_GAS_FULL: '2',
  });
  service = await startProduction(env);
});
afterAll(async () => {
  await service?.stop();
  await issuer?.stop();
  await kit?.stop();
});

/** As the admin of PerkNFT. */
async function perks(functionName: 'setPerk' | 'grantRole', args: unknown[]): Promise<void> {
  const admin = createWalletClient({ account: kit.accounts.admin, transport: http(kit.anvil.url) });
  await admin.writeContract({
    chain: null,
    address: kit.contracts.perks,
    abi: perkNFTAbi,
    functionName,
    args,
    // biome-ignore lint/suspicious/noExplicitAny: two functions at once
  } as any);
}

const purchase = () => ({
  to: kit.contracts.perks,
  userAddress: user.address,
  data: encodeFunctionData({ abi: perkNFTAbi, functionName: 'purchaseFor', args: [user.address, 1n, 0n] }),
});
let refusedId = '';
let callers = 0;
async function relay(token: string) {
  callers += 1;
  const response = await fetch(`${service.ready.urls.events}/relay`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-proto': 'https',
      origin: 'https://shop.example',
      'x-forwarded-for': `10.1.${callers >> 8}.${callers & 255}`,
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify(purchase()),
  });
  return {
    id: response.headers.get('x-request-id') ?? '',
    status: response.status,
    // biome-ignore lint/suspicious/noExplicitAny: tests look at bodies field by field
    body: (await response.json()) as any,
  };
}

type Fields = Record<string, unknown>;
const genuine = (change: Fields = {}) => issuer.tokenOf(user.address, change);
const seconds = () => Math.floor(Date.now() / 1_000);
const claims = (change: Fields = {}) => ({
  iss: issuer.url,
  aud: AUDIENCE,
  sub: 'user_1',
  wallet: user.address,
  scope: 'rewards',
  iat: seconds(),
  exp: seconds() + 600,
  ...change,
});
async function signed(with_: JWK & { alg: string }, header: Fields, change: Fields = {}): Promise<string> {
  const payload = Object.fromEntries(
    Object.entries(claims(change)).filter(([, value]) => value !== undefined),
  );
  const bytes = new TextEncoder().encode(JSON.stringify(payload));
  const secret = await importJWK(with_, with_.alg);
  return new CompactSign(bytes).setProtectedHeader({ alg: with_.alg, typ: 'JWT', ...header }).sign(secret);
}

test('a call with a token of the provider is sent and confirmed', async () => {
  const { status, body } = await relay(await genuine());
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.from.toLowerCase()).toBe(kit.accounts.relay.address.toLowerCase());
  expect(body.explorerUrl).toBe(`https://explorer.example/tx/${body.transactionHash}`);
});

test("the brand's own wallet sends once it has the role, topped up by the service's", async () => {
  const database = openSqlite(ledger.slice('sqlite:'.length));
  const wallet = await findGasWallet(database.db, brandId);
  expect(wallet?.ready).toBe(false);
  const address = wallet?.address as Hex;
  await perks('grantRole', [roleId('RELAYER_ROLE'), address]);
  await expect
    .poll(async () => (await findGasWallet(database.db, brandId))?.ready, { timeout: 45_000, interval: 500 })
    .toBe(true);
  await database.close();
  expect(BigInt((await kit.rpc('eth_getBalance', [address, 'latest'])) as Hex)).toBe(parseEther('2'));
  const { status, body } = await relay(await genuine());
  expect([status, body.from]).toEqual([200, address]);
});

test('tokens that are not taken', async () => {
  const stranger = await crypto.subtle.generateKey(
    {
      name: 'RSASSA-PKCS1-v1_5',
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: 'SHA-256',
    },
    true,
    ['sign', 'verify'],
  );
  const foreign = {
    ...((await crypto.subtle.exportKey('jwk', stranger.privateKey)) as JWK),
    alg: 'RS256',
  } as JWK & { alg: string };
  delete foreign.key_ops;
  delete foreign.ext;
  const own = { ...key, alg: 'RS256' };
  const published = issuer.keys.get(key.kid) as JWK;
  const hmac = {
    kty: 'oct',
    k: base64url.encode(JSON.stringify({ n: published.n, e: published.e })),
    alg: 'HS256',
  };
  const [, payload = ''] = (await genuine()).split('.');
  const none = `${base64url.encode(JSON.stringify({ alg: 'none', typ: 'JWT', kid: key.kid }))}.${payload}.`;
  const { kid } = key;
  const vectors: [string, string][] = [
    ['no signature', none],
    ['algorithm confusion: the public key as an HMAC secret', await signed(hmac, { kid })],
    ['an unknown key', await signed(foreign, { kid: 'unknown' })],
    ["another's key under our key's name", await signed(foreign, { kid })],
    [
      'a key in the header',
      await signed(foreign, { kid: 'mine', jwk: { kty: 'RSA', n: foreign.n, e: foreign.e } }),
    ],
    [
      'a key at an address in the header',
      await signed(foreign, { kid: 'mine', jku: 'http://localhost:1/jwks' }),
    ],
    ['no exp', await signed(own, { kid }, { exp: undefined })],
    ['expired', await signed(own, { kid }, { iat: seconds() - 700, exp: seconds() - 60 })],
    ['before nbf', await signed(own, { kid }, { nbf: seconds() + 60 })],
    ['another audience', await signed(own, { kid }, { aud: 'https://other.example' })],
    ['no audience', await signed(own, { kid }, { aud: undefined })],
    ['another issuer', await signed(own, { kid }, { iss: 'http://evil.example' })],
    ['an identity token: typed JWT, without a scope', await signed(own, { kid }, { scope: undefined })],
    ['no subject', await signed(own, { kid }, { sub: undefined })],
  ];
  for (const [name, token] of vectors) {
    const { status, body } = await relay(token);
    expect([name, status, body.code]).toEqual([name, 401, 'UNAUTHORIZED']);
  }
  // The same means do make one that is taken.
  expect((await relay(await signed(own, { kid }))).status).toBe(200);
  const { id, status, body } = await relay(await genuine({ wallet: `0x${'1'.repeat(40)}` }));
  refusedId = id;
  expect([status, body.details.reason]).toEqual([403, 'not_your_wallet']);
});

test('a new key of the provider is taken at once; while the provider is away, known keys still are', async () => {
  const fresh = await issuer.keys.generate('RS256');
  // Within a second of the last look at the provider's keys no other is made.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const next = await signed({ ...fresh, alg: 'RS256' }, { kid: fresh.kid });
  expect((await relay(next)).status).toBe(200);
  await issuer.stop();
  expect((await relay(next)).status).toBe(200);
  const unknown = await signed({ ...fresh, alg: 'RS256' }, { kid: 'later' });
  const { status, body } = await relay(unknown);
  expect([401, 503]).toContain(status);
  expect(['UNAUTHORIZED', 'IDENTITY_UNAVAILABLE']).toContain(body.code);
});

test('it counts what became of calls', async () => {
  expect(await service.metric('rewards_relays_total{code="confirmed"}')).toBeGreaterThanOrEqual(3);
  expect(await service.metric('rewards_relays_total{code="validation_failed"}')).toBe(1);
});

test('its log holds no token, no key, no address of a node', () => {
  for (const secret of [...Object.values(kit.keys), kit.anvil.url, 'eyJ'])
    expect(service.log()).not.toContain(secret);
});

test('why a call was refused: by the id of the answer, without the address of its user', async () => {
  await service.stop();
  const line = service.logLines().find(({ request }) => request === refusedId);
  expect(line).toMatchObject({ route: '/relay', status: 403, decision: 'validation_failed' });
  expect(line.user).toMatch(/^user_[0-9a-f]{16}$/);
  const { stdout } = await rewards(['requests', 'explain', refusedId], { env });
  expect(stdout).toMatch(/wallet +REFUSED {2}.*userAddress is not a wallet of the user whose token this is/);
  const ofUser = await rewardsJson(['requests', 'list', '--user', user.address, '--limit', '500'], { env });
  const listed = ofUser.envelope.data.body.requests;
  expect(listed.map(({ id }: { id: string }) => id)).toContain(refusedId);
  expect(listed).toContainEqual(expect.objectContaining({ decision: 'confirmed', call: 'purchaseFor' }));
  for (const text of [service.log(), stdout, JSON.stringify(listed)])
    expect(text.toLowerCase()).not.toContain(user.address.slice(2).toLowerCase());
});

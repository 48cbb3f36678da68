/** Users' wallets: made before a login, shown, asked for their balance, and named by the emulator's tokens. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueToken } from '../../src/actions/wallets/issue-token.ts';
import { pregenerateWallet, type WantedWallet } from '../../src/actions/wallets/pregenerate-wallet.ts';
import { readBalance } from '../../src/actions/wallets/read-balance.ts';
import { showWallet } from '../../src/actions/wallets/show-wallet.ts';
import { brandsThatKnow } from '../../src/ledger/relay/known-users.ts';
import { recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { ensureWallets, findWallets } from '../../src/ledger/wallets/wallets.ts';
import type { BrandId } from '../../src/rules/brands/brand.ts';
import type { Registration } from '../../src/rules/registration.ts';
import { freshAddress, freshKey } from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';

const LIMIT = 3;
const WINDOW_MS = 60_000;
let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());
const db = () => ledger.database.db;
const walletOf = async (userKey: string) => (await findWallets(db(), [userKey])).get(userKey);

let users = 0;
const person = (brandId: BrandId): Registration => {
  users += 1;
  const providerUserId = `1${String(users).padStart(17, '0')}`;
  const userKey = `discord_${providerUserId}@rewards.example`;
  return { brandId, provider: 'discord', providerUserId, username: 'someone', userKey };
};

describe('a wallet before its user logs in', () => {
  /** Addresses of callers, and how many wallets each has made; two are allowed. */
  const counted = new Map<string, number>();
  const countAddress = (address: string) => {
    const used = (counted.get(address) ?? 0) + 1;
    counted.set(address, used);
    return { taken: used <= 2, limit: 2, remaining: Math.max(0, 2 - used), resetAtMs: 5 };
  };
  const ask = (
    registration: Registration,
    by: Omit<WantedWallet, 'registration' | 'keyOf'> & { keyOf?: BrandId } = {},
    change: Partial<Parameters<typeof pregenerateWallet>[0]> = {},
  ) =>
    pregenerateWallet(
      {
        ...ledger,
        ownHosts: ['rewards.example'],
        countAddress,
        limit: { limit: LIMIT, windowMs: WINDOW_MS },
        ...change,
      },
      { registration, keyOf: by.keyOf, ...by },
    );
  const window = (remaining: number) => ({
    limit: LIMIT,
    remaining,
    resetAtMs: ledger.clock.now() + WINDOW_MS,
  });

  test('is made once, and the same person gets the same ever after', async () => {
    const { brandId } = await someBrand(ledger);
    const someone = person(brandId);
    const first = await ask(someone);
    expect(first).toEqual({
      walletAddress: (await walletOf(someone.userKey))?.address,
      idpUserId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      createdNew: true,
      window: window(2),
    });
    const { window: _, ...same } = first as { window: unknown; createdNew: boolean };
    expect(await ask(someone)).toEqual({ ...same, createdNew: false });
    expect(await ask({ ...someone, brandId: freshAddress() })).toMatchObject({
      refusal: { code: 'brand_not_found' },
    });
  });

  test('of a user whose events were paid already is that one, and counts for nothing', async () => {
    const { brandId } = await someBrand(ledger);
    const someone = person(brandId);
    const nowMs = ledger.clock.now();
    await ledger.database.atomically((tx) =>
      ensureWallets(tx, { userKeys: [someone.userKey], addressAt: ledger.addressAt, nowMs }),
    );
    for (let made = 0; made < LIMIT; made++) await ask(person(brandId));
    expect(await ask(person(brandId), { address: '10.0.0.1' })).toMatchObject({
      refusal: { code: 'rate_limit_exceeded' },
    });
    for (let tries = 0; tries < 4; tries++) countAddress('10.0.0.2');
    const answer = await ask(someone, { address: '10.0.0.2' });
    expect(answer).toMatchObject({
      walletAddress: (await walletOf(someone.userKey))?.address,
      createdNew: false,
    });
    expect(answer).not.toHaveProperty('window');
  });

  test('is limited by no address where the service counts none', async () => {
    const { brandId } = await someBrand(ledger);
    for (let tries = 0; tries < 3; tries++) countAddress('10.0.0.3');
    const by = { address: '10.0.0.3' };
    expect(await ask(person(brandId), by)).toMatchObject({ refusal: { code: 'rate_limit_exceeded' } });
    expect(await ask(person(brandId), by, { countAddress: undefined })).toMatchObject({ createdNew: true });
  });

  test('is limited for strangers and for callers with the key, each apart', async () => {
    const { brandId } = await someBrand(ledger);
    for (let made = 1; made <= LIMIT; made++)
      expect(await ask(person(brandId))).toMatchObject({
        createdNew: true,
        window: { remaining: LIMIT - made },
      });
    const late = person(brandId);
    expect(await ask(late)).toEqual({
      refusal: { code: 'rate_limit_exceeded', brandId, window: window(0) },
    });
    expect(await walletOf(late.userKey)).toBeUndefined();
    for (let made = 1; made <= LIMIT; made++)
      expect(await ask(person(brandId), { keyOf: brandId })).toMatchObject({ createdNew: true });
    expect(await ask(late, { keyOf: brandId })).toMatchObject({ refusal: { code: 'rate_limit_exceeded' } });
    ledger.clock.advance(WINDOW_MS);
    expect(await ask(late)).toMatchObject({ createdNew: true });
  });

  test('is no refusal when something else goes wrong, and leaves nothing behind', async () => {
    const { brandId } = await someBrand(ledger);
    const someone = person(brandId);
    const fault = new Error('no key');
    const addressAt = () => {
      throw fault;
    };
    await expect(ask(someone, {}, { addressAt })).rejects.toBe(fault);
    expect(await ask(someone)).toMatchObject({ createdNew: true, window: { remaining: LIMIT - 1 } });
  });

  test('is no more than the limit when all ask at once', async () => {
    const { brandId } = await someBrand(ledger);
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(person(brandId))));
    const made = answers.filter((answer) => 'createdNew' in answer && answer.createdNew);
    const refused = answers.filter((answer) => 'refusal' in answer);
    expect([made.length, refused.length]).toEqual([LIMIT, 3]);
    for (const answer of refused)
      expect(answer).toEqual({ refusal: { code: 'rate_limit_exceeded', brandId, window: window(0) } });
  });

  test('is limited by the address of strangers, not of callers with the key', async () => {
    const { brandId } = await someBrand(ledger);
    const address = '10.0.0.9';
    const someone = person(brandId);
    await ask(someone, { address });
    await ask(someone, { address });
    expect(counted.get(address)).toBe(1);
    await ask(person(brandId), { address });
    expect(await ask(person(brandId), { address })).toMatchObject({
      refusal: { code: 'rate_limit_exceeded', brandId, window: { limit: 2, remaining: 0, resetAtMs: 5 } },
    });
    expect(await ask(person(brandId), { address, keyOf: brandId })).toMatchObject({ createdNew: true });
    expect(counted.get(address)).toBe(3);
  });

  test('is given to pages of the brand and of the service, and to no others', async () => {
    const { brandId, domain } = await someBrand(ledger);
    const refusal = (origin: string) => ({ refusal: { code: 'origin_not_allowed', brandId, origin } });
    for (const origin of ['https://evil.example', 'null', `https://x${domain}`])
      expect(await ask(person(brandId), { origin })).toEqual(refusal(origin));
    for (const origin of [`https://${domain}`, `https://shop.${domain}`, 'https://rewards.example'])
      expect(await ask(person(brandId), { origin })).toMatchObject({ createdNew: true });
    const origin = 'https://evil.example';
    expect(await ask(person(brandId), { origin, keyOf: brandId })).toMatchObject({ createdNew: true });
    expect(await ask(person(brandId), { origin, keyOf: freshAddress() })).toEqual(refusal(origin));
  });

  test('needs the key where the brand wants it, and then the brand knows the user', async () => {
    const { brandId } = await someBrand(ledger, { pregenerate: 'credential' });
    const refusal = { refusal: { code: 'brand_key_required', brandId } };
    expect(await ask(person(brandId))).toEqual(refusal);
    expect(await ask(person(brandId), { keyOf: freshAddress() })).toEqual(refusal);
    const { brandId: open } = await someBrand(ledger);
    const [first, second] = [person(open), person(open)];
    const known = async ({ userKey: email }: Registration) =>
      brandsThatKnow(db(), [open], { email, addresses: [] });
    await ask(first, { keyOf: open });
    await ask(second);
    expect([await known(first), await known(second)]).toEqual([[open], []]);
    await ask(second, { keyOf: open });
    expect(await known(second)).toEqual([open]);
    expect(await ask(person(brandId), { keyOf: brandId })).toMatchObject({ createdNew: true });
  });
});

describe('a wallet is shown', () => {
  const show = (name: string) =>
    showWallet({ database: ledger.database, ownDomain: 'rewards.example' }, name);

  test('by e-mail, address, or platform and id, with the identities of its user', async () => {
    const { brandId } = await someBrand(ledger);
    const someone = person(brandId);
    const deps = { ...ledger, ownHosts: [], limit: { limit: LIMIT, windowMs: WINDOW_MS } };
    await pregenerateWallet(deps, { registration: someone, keyOf: undefined });
    const { provider, providerUserId, username, userKey } = someone;
    const expected = {
      wallet: { userKey, address: (await walletOf(userKey))?.address },
      identities: [{ provider, providerUserId, username, userKey }],
    };
    const upper = `0x${expected.wallet.address?.slice(2).toUpperCase()}`;
    for (const name of [`x@discord:${providerUserId}`, `discord:${providerUserId}\nx`])
      expect(await show(name)).toBeUndefined();
    for (const name of [userKey, userKey.toUpperCase(), upper, `Discord:${providerUserId}`])
      expect(await show(name)).toMatchObject(expected);
  });

  test('for nobody else', async () => {
    const names = ['nobody@demo.example', freshAddress(), 'discord:1', 'myspace:5', 'nobody', '', 'discord:'];
    for (const name of names) expect([name, await show(name)]).toEqual([name, undefined]);
  });
});

describe('a balance', () => {
  const token = { balanceOf: async (address: string) => BigInt(address.length) } as never;
  const balance = (of: { brandId: BrandId; userKey: string; userAddress?: BrandId; historyLimit?: number }) =>
    readBalance({ database: ledger.database, token }, { userAddress: undefined, historyLimit: 0, ...of });

  test('is that of the wallet the user has, or names, and nothing without one', async () => {
    const { brandId } = await someBrand(ledger);
    const userKey = `${freshKey('holder')}@demo.example`;
    const nothing = { balance: 0n, walletAddress: undefined, otherWallets: [], history: [] };
    expect(await balance({ brandId, userKey })).toEqual(nothing);
    const userAddress = freshAddress();
    expect(await balance({ brandId, userKey, userAddress })).toEqual({
      ...nothing,
      balance: 42n,
      walletAddress: userAddress,
    });
    await ledger.database.atomically((tx) =>
      ensureWallets(tx, { userKeys: [userKey], addressAt: ledger.addressAt, nowMs: START_MS }),
    );
    const walletAddress = (await walletOf(userKey))?.address;
    expect(await balance({ brandId, userKey })).toEqual({ ...nothing, balance: 42n, walletAddress });
    expect(await balance({ brandId: freshAddress(), userKey })).toBeUndefined();
  });

  test('comes with as much history as is asked for, the newest first', async () => {
    const { brandId } = await someBrand(ledger);
    const userKey = `${freshKey('holder')}@demo.example`;
    for (const amount of [1, 2])
      await recordRewards(db(), [
        {
          sequence: 900 + amount,
          id: freshKey('reward'),
          brandId,
          eventType: 'visit',
          userKey,
          amount,
          wallet: freshAddress(),
          walletCreated: false,
          metadata: {},
          createdAt: START_MS + amount,
        },
      ]);
    const history = async (historyLimit: number) =>
      (await balance({ brandId, userKey, historyLimit }))?.history.map(({ amount }) => amount);
    expect([await history(0), await history(1), await history(5)]).toEqual([[], [2], [2, 1]]);
  });
});

test("the emulator's token speaks for the user's wallet, and lives for whole seconds", async () => {
  const issued: unknown[] = [];
  const issuer = { issue: async (wish: unknown) => `token ${issued.push(wish)}` } as never;
  const email = `${freshKey('login')}@demo.example`;
  ledger.clock.advance(999);
  const expiresAtMs = Math.floor((ledger.clock.now() + 1_500) / 1_000) * 1_000;
  const first = await issueToken({ ...ledger, issuer }, { email, lifetimeMs: 1_500, audience: 'app' });
  const wallet = (await walletOf(email))?.address;
  expect(first).toEqual({ token: 'token 1', address: wallet, expiresAtMs });
  const subject = `user_${createHash('sha256').update(email).digest('hex').slice(0, 24)}`;
  expect(issued).toEqual([{ subject, email, wallet, expiresAtMs, audience: 'app' }]);
  expect(await issueToken({ ...ledger, issuer }, { email, lifetimeMs: 1_000 })).toMatchObject({
    address: wallet,
  });
  expect(issued[1]).toMatchObject({ subject, audience: undefined });
});

/** A ledger that went back to an old copy, and `rewards recover`: what the chain knows comes back, and nothing is paid twice. */
import { createPublicClient, createWalletClient, encodeFunctionData, type Hex, http, maxUint256 } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { perkNFTAbi, rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import { openOfflineLedger } from '../../src/production/offline/offline-ledger.ts';
import { startRpcProxy } from '../kits/chain/rpc-proxy.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { type Issuer, startIssuer } from '../kits/service/foreign-users.ts';
import { type CopiedLedger, ledgerKinds } from '../kits/service/lost-ledger.ts';
import {
  brandId,
  CHAIN_ID,
  type ProductionKit,
  productionOf,
  type Started,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

const account = `0x${'c3'.repeat(20)}` as const;
const buyer = privateKeyToAccount(generatePrivateKey());
const alice = 'alice@people.example';

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.stop());

let kit: ProductionKit;
let ledger: CopiedLedger;
let identity: Record<string, string>;
beforeEach(async () => {
  kit = await startProductionKit();
  identity = {
    ...issuer.settings,
    REWARDS_DUPLICATE_WINDOW: '0s',
    REWARDS_GAS_LOW: '0.5',
    REWARDS_GAS_FULL: '2',
  };
});
afterEach(async () => {
  await kit.stop();
  await ledger?.stop();
});
const { start, refused, agrees } = productionOf(() => kit);

/** A command on a ledger, without a service. */
async function command(url: string, args: string[], change: Record<string, string | undefined> = {}) {
  const env = kit.environment(url, { REWARDS_ALLOW_SQLITE: 'true', ...change });
  const { code, envelope } = await rewardsJson(args, { env });
  return { code, data: envelope.data, error: envelope.error ?? null };
}
const recover = (url: string, how: '--plan' | '--apply', change = {}) =>
  command(url, ['recover', how], change);

/** The address of somebody who has been paid nothing. */
const shown = async (service: Started, id: string) => {
  const account = {
    brand_id: brandId,
    oauth_provider: 'discord',
    oauth_user_id: id,
    oauth_username: `user-${id}`,
  };
  const { status, body } = await post(service, '/rewards-api/pregenerate-user', account);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.wallet_address as Hex;
};

const held = (of: Hex) =>
  createPublicClient({ transport: http(kit.anvil.url) }).readContract({
    address: kit.contracts.token,
    abi: rewardTokenAbi,
    functionName: 'balanceOf',
    args: [of],
  });

async function post(service: Started, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.ready.urls.events}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-proto': 'https', ...headers },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look at bodies field by field
  return { status: response.status, body: (await response.json()) as any };
}

const redeem = (service: Started, perkId: string) =>
  post(service, '/perks/redeem', { brandId, userIdentifier: alice, platform: 'web', perkId });

async function buy(service: Started, tokenId: bigint) {
  const token = await issuer.tokenOf(buyer.address);
  const args = [buyer.address, tokenId, 0n] as const;
  const data = encodeFunctionData({ abi: perkNFTAbi, functionName: 'purchaseFor', args });
  const call = { to: kit.contracts.perks, userAddress: buyer.address, data };
  return post(service, '/relay', call, { authorization: `Bearer ${token}`, origin: 'https://shop.example' });
}

const earn = async (service: Started, userEmail: string) => {
  const { status, body } = await service.event({ brandId, userEmail });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.walletAddress as Hex;
};

async function addPerk(url: string, name: string, cost: number): Promise<string> {
  const wish = ['--perk-name', name, '--category', 'digital', '--cost', String(cost), '--stock', '9'];
  const { code, data, error } = await command(url, ['perks', 'add', 'shop.example', ...wish]);
  expect(error).toBe(null);
  expect(code).toBe(0);
  return data.body.id;
}

const isOnSale = (service: Started, perkId: string, cost: number) => async () => {
  const response = await fetch(`${service.ready.urls.events}/perks/${brandId}`, {
    headers: { 'x-forwarded-proto': 'https' },
  });
  const { perks } = (await response.json()) as { perks: { id: string; cost: number; available: number }[] };
  return perks.some((one) => one.id === perkId && one.cost === cost && one.available > 0);
};

/** A perk that the chain has and no catalogue: anybody may have it. */
const FREE = 99n;
async function sellForNothing(): Promise<void> {
  const args = [FREE, 0n, maxUint256, brandId, true] as const;
  const data = encodeFunctionData({ abi: perkNFTAbi, functionName: 'setPerk', args });
  const admin = createWalletClient({ account: kit.accounts.admin, transport: http(kit.anvil.url) });
  await admin.sendTransaction({ chain: null, to: kit.contracts.perks, data });
}

/** Work of every lane, then a copy, then more of it that the copy does not know; the service is killed. */
async function loseWork(url: string, copy: () => Promise<string>) {
  // Redemptions below are sent without a key.
  expect((await command(url, ['brand', 'set', 'shop.example', 'redemptions=open'])).error).toBe(null);
  const tote = await addPerk(url, 'Tote bag', 1);
  await sellForNothing();
  const first = await start(url, identity);
  const aliceAt = await earn(first, alice);
  await until('the perk to be on sale', isOnSale(first, tote, 1));
  await until('the reward', async () => (await held(aliceAt)) === 5n);
  await first.stop();
  const old = await copy();

  expect(
    (await command(url, ['mint', '--to', account, '--amount', '7', '--reason', 'invoice 18'])).code,
  ).toBe(0);
  expect((await command(url, ['perks', 'set', tote, 'cost=2', 'restock=3'])).code).toBe(0);
  const poster = await addPerk(url, 'Poster', 3);
  const second = await start(url, identity);
  await until('the new price', isOnSale(second, tote, 2));
  await until('the new perk', isOnSale(second, poster, 3));
  await earn(second, alice);
  const lost = await Promise.all(
    Array.from({ length: 12 }, (_, n) => earn(second, `lost-${n}@people.example`)),
  );
  const redeemed = await redeem(second, tote);
  expect(redeemed.status, JSON.stringify(redeemed.body)).toBe(200);
  const bought = await buy(second, FREE);
  expect(bought.status, JSON.stringify(bought.body)).toBe(200);
  await until('the mint', async () => (await held(account)) === 7n);
  for (const wallet of lost) await until('a reward', async () => (await held(wallet)) === 5n);
  await second.stop('SIGKILL');
  return { old, aliceAt, lost, tote, poster, code: redeemed.body.confirmationCode as string };
}

describe.each(ledgerKinds)('$kind', ({ open }) => {
  beforeEach(async () => {
    ledger = await open(kit.folder);
  });

  test('what every account did after the copy comes back; what nobody knows is listed; nothing is paid twice', async () => {
    const { old, aliceAt, lost, tote, poster, code } = await loseWork(ledger.url, ledger.copy);
    expect((await refused(old, identity)).error.code).toBe('E_PROD_LEDGER_BEHIND');

    const planned = await recover(old, '--plan');
    expect([planned.code, planned.error]).toEqual([0, null]);
    expect(planned.data.state).toBe('planned');
    expect(planned.data.rewards).toHaveLength(13);
    expect((await refused(old, identity)).error.code).toBe('E_PROD_LEDGER_BEHIND');

    const applied = await recover(old, '--apply');
    expect([applied.code, applied.error]).toEqual([0, null]);
    const { data } = applied;
    expect(data.state).toBe('applied');
    expect(data.transactions).toMatchObject({ mint: 1, redeem: 1, relay: 1 });
    expect(data.transactions.payout).toBeGreaterThan(0);
    expect(data.transactions.perk_terms).toBeGreaterThan(1);
    expect(data.users).toContainEqual(
      expect.objectContaining({ address: aliceAt.toLowerCase(), userKey: alice, isNew: false }),
    );
    for (const wallet of lost)
      expect(data.users).toContainEqual(
        expect.objectContaining({ address: wallet.toLowerCase(), isNew: true, rewards: 1, rwt: 5 }),
      );
    // The brand has one rule that pays 5.
    expect(data.rewards.map((one: { event: string }) => one.event)).toEqual(Array(13).fill('form_submit'));
    expect(data.mints).toMatchObject([{ recipient: account, amount: 7, session: null }]);
    expect(data.redemptions).toMatchObject([{ userKey: alice, tokenId: 1, cost: 2, consent: 'unknown' }]);
    expect(data.redemptions[0].code).not.toBe(code);
    expect(data.perks).toMatchObject([{ tokenId: 2, cost: 3 }]);
    expect(data.relays).toMatchObject([{ user: buyer.address.toLowerCase() }]);
    expect(data.pendingUnknown).toEqual([]);
    await agrees(old);

    const again = await recover(old, '--plan');
    expect(again.data).toMatchObject({ state: 'nothing', recoveries: [{ id: data.id }] });
    expect(again.data.recoveries[0].rows).toMatchObject({ reward: 13, mint: 1, redemption: 1, relay: 1 });

    const service = await start(old, identity);
    const carol = await earn(service, 'carol@people.example');
    expect([aliceAt, ...lost]).not.toContain(carol);
    expect(await earn(service, alice)).toBe(aliceAt);
    await until('the rewards', async () => (await held(carol)) === 5n && (await held(aliceAt)) === 13n);
    // What was paid before is there once.
    for (const wallet of lost) expect(await held(wallet)).toBe(5n);
    expect((await redeem(service, tote)).status).toBe(200);
    expect((await buy(service, FREE)).status).toBe(200);
    await service.stop();
    await agrees(old);
    // Its constraints are lost: it stays off until somebody has looked at it.
    const { data: listed } = await command(old, ['perks', 'list', '--brand', 'shop.example']);
    expect(listed.body.perks.map((one: { id: string }) => one.id)).not.toContain(poster);
    expect(listed.body.perks).toContainEqual(
      expect.objectContaining({ tokenId: 2, active: false, terms: 'on_chain' }),
    );
  });

  test('a wallet that was shown in lost commits, and never paid, goes to nobody else once its number is skipped', async () => {
    const first = await start(ledger.url, identity);
    await earn(first, alice);
    await first.stop();
    const old = await ledger.copy();
    const second = await start(ledger.url, identity);
    const lost = await shown(second, '100000000000000001');
    await second.stop('SIGKILL');

    expect((await recover(old, '--plan')).data.state).toBe('nothing');
    const applied = await command(old, ['recover', '--apply', '--skip-numbers']);
    expect([applied.code, applied.error]).toEqual([0, null]);
    expect(applied.data).toMatchObject({ state: 'applied', rewards: [], users: [] });
    expect(applied.data.goesOnWith.wallet_index).toBeGreaterThan(2);

    const service = await start(old, identity);
    expect(await shown(service, '100000000000000002')).not.toBe(lost);
    expect(await earn(service, 'carol@people.example')).not.toBe(lost);
    await service.stop();
    await agrees(old);
  });

  test('it is killed after each of its commits and goes on; until it is done no service starts', async () => {
    const { old, lost } = await loseWork(ledger.url, ledger.copy);
    const secrets = {
      nodes: { value: kit.anvil.url },
      walletsXpub: { value: kit.walletsXpub },
      keys: {
        payout: { value: kit.keys.payout },
        mint: { value: kit.keys.mint },
        redemption: { value: kit.keys.redemption },
        relay: { value: kit.keys.relay },
      },
    };
    const runs = async () => {
      const opened = await openOfflineLedger({ cwd: '/', secret: { value: old }, allowSqlite: true });
      try {
        const recovery = await opened.recovery({
          ...secrets,
          settings: { confirmations: 1, finalityBlocks: 64 },
          progress: () => {},
          committed() {
            throw new Error('killed');
          },
        });
        return (await recovery.apply()).state;
      } catch (error) {
        return (error as Error).message;
      } finally {
        await opened.close();
      }
    };
    let kills = 0;
    while ((await recover(old, '--plan')).data.state !== 'nothing') {
      expect(await runs()).toBe('killed');
      kills += 1;
      if (kills === 2)
        expect((await refused(old, identity)).error.code).toMatch(
          /E_RECOVERY_UNFINISHED|E_PROD_LEDGER_BEHIND/,
        );
      if (kills >= 8) break;
    }
    expect(kills).toBe(8);
    const { error } = await refused(old, identity);
    expect(JSON.stringify(error)).toContain('E_RECOVERY_UNFINISHED');
    const done = await recover(old, '--apply');
    expect([done.code, done.data.state]).toEqual([0, 'applied']);
    expect(done.data.rewards).toHaveLength(13);
    expect(done.data.recoveries).toHaveLength(1);
    await agrees(old);
    const service = await start(old, identity);
    for (const wallet of lost) expect(await held(wallet)).toBe(5n);
    await service.stop();
  });

  test('a transaction that still waits in a pool is taken in, lands, and its nonce and sequences are used for nothing else', async () => {
    const first = await start(ledger.url);
    await earn(first, alice);
    await first.stop();
    const old = await ledger.copy();
    const second = await start(ledger.url);
    await kit.rpc('evm_setAutomine', [false]);
    const bob = await earn(second, 'bob@people.example');
    await second.stop('SIGKILL');

    const applied = await recover(old, '--apply');
    expect([applied.code, applied.error]).toEqual([0, null]);
    expect(applied.data.rewards).toMatchObject([{ wallet: bob.toLowerCase(), amount: 5 }]);
    await agrees(old);
    const service = await start(old);
    const carol = await earn(service, 'carol@people.example');
    expect(carol).not.toBe(bob);
    await until('both rewards', async () => {
      await kit.rpc('evm_mine', []);
      return (await held(bob)) === 5n && (await held(carol)) === 5n;
    });
    await service.stop();
    await agrees(old);
    expect(await held(bob)).toBe(5n);
  });
});

test('while a service holds an account it is refused; of a pool that no node shows, the nonces are told and nothing else is sent', async () => {
  ledger = await (ledgerKinds.at(-1) as (typeof ledgerKinds)[number]).open(kit.folder);
  const first = await start(ledger.url);
  await earn(first, alice);
  if (ledger.url.startsWith('postgres')) {
    const { code, error } = await recover(ledger.url, '--apply');
    expect([code, error.code]).toEqual([5, 'E_RECOVERY_SERVICE_RUNS']);
  }
  await first.stop();
  const old = await ledger.copy();
  const second = await start(ledger.url);
  await kit.rpc('evm_setAutomine', [false]);
  await earn(second, 'bob@people.example');
  await second.stop('SIGKILL');
  const proxy = await startRpcProxy({ target: kit.anvil.url });
  proxy.add({ fault: 'hidden-pool' });
  const hidden = { REWARDS_RPC_URL: proxy.url };
  const nonce = Number(await kit.rpc('eth_getTransactionCount', [kit.accounts.payout.address, 'latest']));
  const waiting = [{ account: kit.accounts.payout.address, fromNonce: nonce, nextNonce: nonce + 1 }];
  const { code, error, data } = await recover(old, '--apply', hidden);
  expect([code, error.code]).toEqual([75, 'E_RECOVERY_PENDING']);
  expect(data.pendingUnknown).toEqual(waiting);
  expect((await refused(old)).error.code).toBe('E_RECOVERY_UNFINISHED');
  const verified = await command(old, ['verify'], hidden);
  expect([verified.code, verified.data.ok]).toEqual([1, false]);
  expect(verified.data.differences).toMatchObject([
    {
      kind: 'pending_unknown',
      about: { lane: kit.accounts.payout.address, fromNonce: nonce, toNonce: nonce },
    },
  ]);
  await proxy.stop();
  await kit.rpc('evm_mine', []);
  expect((await recover(old, '--apply')).data).toMatchObject({ state: 'applied', rewards: [{ amount: 5 }] });
  await agrees(old);
  await kit.rpc('evm_setAutomine', [true]);
  await (await start(old)).stop();
  expect(CHAIN_ID).toBe(4242);
});

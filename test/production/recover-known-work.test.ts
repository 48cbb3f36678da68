/** `rewards recover` where the old copy knows a part of what happened: rewards that wait, other bytes of a nonce, two ledgers that served at once. */
import {
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  keccak256,
  parseGwei,
  parseTransaction,
  toHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import { fundEscrow } from '../kits/chain/chain.ts';
import { startRpcProxy } from '../kits/chain/rpc-proxy.ts';
import { signPermitBody, tokenDomain } from '../kits/chain/wallet.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
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
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let kit: ProductionKit;
let ledger: CopiedLedger;
beforeEach(async () => {
  kit = await startProductionKit();
});
afterEach(async () => {
  await kit.stop();
  await ledger?.stop();
});
const { start, refused, agrees } = productionOf(() => kit);

async function recover(url: string, how: '--plan' | '--apply') {
  const env = kit.environment(url, { REWARDS_ALLOW_SQLITE: 'true' });
  const { code, envelope } = await rewardsJson(['recover', how], { env });
  return { code, data: envelope.data, error: envelope.error ?? null };
}

const held = (of: Hex) =>
  createPublicClient({ transport: http(kit.anvil.url) }).readContract({
    address: kit.contracts.token,
    abi: rewardTokenAbi,
    functionName: 'balanceOf',
    args: [of],
  });
const earn = async (service: Started, userEmail: string) => {
  const { status, body } = await service.event({ brandId, userEmail });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.walletAddress as Hex;
};
const mine = async (blocks: number) => void (await kit.rpc('anvil_mine', [toHex(blocks)]));
const nonceOf = async (account: Hex, at: string) =>
  Number(await kit.rpc('eth_getTransactionCount', [account, at]));

describe.each(ledgerKinds)('$kind', ({ open }) => {
  beforeEach(async () => {
    ledger = await open(kit.folder);
  });

  test('a reward that waited in the copy and was paid after it is bound to what paid it, and paid once', async () => {
    const first = await start(ledger.url);
    await earn(first, 'alice@people.example');
    await first.stop();
    // It answers after its longest wait for the payment, which nobody makes.
    const asking = await start(ledger.url, { REWARDS_WORKERS: 'api' });
    const asked = await asking.event({ brandId, userEmail: 'bob@people.example' });
    expect(asked.body.details.reason).toBe('payout_pending');
    await asking.stop('SIGKILL');
    const old = await ledger.copy();
    const paying = await start(ledger.url);
    await until('the payment', async () => (await nonceOf(kit.accounts.payout.address, 'latest')) === 2);
    // A deposit of the brand, made by hand with the key of a lane.
    const transport = http(kit.anvil.url);
    const client = createPublicClient({ transport, pollingInterval: 20 });
    const wallet = createWalletClient({ transport });
    const deposit = { brand: brandId, amount: 500n, key: keccak256(toHex('a deposit that was lost')) };
    await fundEscrow({ wallet, client, pointsSale: kit.contracts.pointsSale }, kit.accounts.mint, deposit);
    await paying.stop('SIGKILL');

    const { code, data } = await recover(old, '--apply');
    expect([code, data.state]).toEqual([0, 'applied']);
    expect(data).toMatchObject({ transactions: { payout: 1, mint: 1 }, rewards: [], released: [] });
    expect(data.mints).toMatchObject([{ kind: 'escrow', recipient: brandId, amount: 500 }]);
    await agrees(old);
    const service = await start(old);
    const carol = await earn(service, 'carol@people.example');
    await until('the reward', async () => (await held(carol)) === 5n);
    await service.stop();
    await agrees(old);
  });

  test('other bytes of a nonce that the copy knows are taken in as another offer of the same transaction', async () => {
    const first = await start(ledger.url);
    await kit.rpc('evm_setAutomine', [false]);
    const bob = await earn(first, 'bob@people.example');
    await first.stop();
    const old = await ledger.copy();
    const pending = (await kit.rpc('eth_getBlockByNumber', ['pending', true])) as {
      transactions: { input: Hex; gas: Hex; nonce: Hex }[];
    };
    const [sent] = pending.transactions;
    if (!sent) throw new Error('nothing waits in the pool');
    // What the lost ledger would have stored as its next offer.
    const raw = await kit.accounts.payout.signTransaction({
      chainId: 4242,
      type: 'eip1559',
      nonce: Number(sent.nonce),
      to: kit.contracts.escrow,
      data: sent.input,
      gas: BigInt(sent.gas),
      maxFeePerGas: parseGwei('90'),
      maxPriorityFeePerGas: parseGwei('30'),
    });
    expect(parseTransaction(raw).nonce).toBe(Number(sent.nonce));
    await kit.rpc('eth_sendRawTransaction', [raw]);
    await mine(1);
    expect(await held(bob)).toBe(5n);

    const { code, data } = await recover(old, '--apply');
    expect([code, data.state]).toEqual([0, 'applied']);
    expect(data).toMatchObject({ transactions: { payout: 1 }, rewards: [], released: [] });
    await agrees(old);
    await kit.rpc('evm_setAutomine', [true]);
    const service = await start(old);
    expect(await earn(service, 'carol@people.example')).not.toBe(bob);
    await service.stop();
    await agrees(old);
    expect(await held(bob)).toBe(5n);
  });

  test("a redemption that a user's permit paid comes back with its permit, which pays no other", async () => {
    const env = kit.environment(ledger.url, { REWARDS_ALLOW_SQLITE: 'true' });
    const command = async (...args: string[]) => {
      const { code, envelope } = await rewardsJson(args, { env });
      expect([code, envelope.error ?? null]).toEqual([0, null]);
      return envelope.data;
    };
    await (await start(ledger.url)).stop();
    await command('brand', 'set', 'shop.example', 'redemptions=open');
    const wish = ['--perk-name', 'Tote bag', '--category', 'digital', '--cost', '2', '--stock', '9'];
    const { id: perkId } = (await command('perks', 'add', 'shop.example', ...wish)).body;
    const user = privateKeyToAccount(generatePrivateKey());
    await command('mint', '--to', user.address, '--amount', '20', '--reason', 'invoice 18');
    const first = await start(ledger.url);
    await until('the mint', async () => (await held(user.address)) === 20n);
    const headers = { 'content-type': 'application/json', 'x-forwarded-proto': 'https' };
    const redeem = async ({ ready: { urls } }: Started, permit: object) => {
      const asked = { brandId, userIdentifier: user.address, platform: 'wallet', perkId, permit };
      const response = await fetch(`${urls.events}/perks/redeem`, {
        method: 'POST',
        headers,
        body: JSON.stringify(asked),
      });
      // biome-ignore lint/suspicious/noExplicitAny: the body is looked at field by field
      return { status: response.status, body: (await response.json()) as any };
    };
    await until('the perk to be on sale', async () => {
      const response = await fetch(`${first.ready.urls.events}/perks/${brandId}`, { headers });
      return JSON.stringify(await response.json()).includes('Tote bag');
    });
    await first.stop();
    const old = await ledger.copy();
    const second = await start(ledger.url);
    const permit = await signPermitBody(user, {
      owner: user.address,
      spender: kit.contracts.escrow,
      value: 4n,
      nonce: 0n,
      deadline: 2n ** 40n,
      domain: tokenDomain(kit.contracts.token, CHAIN_ID),
    });
    const redeemed = await redeem(second, permit);
    expect(redeemed.status, JSON.stringify(redeemed.body)).toBe(200);
    await second.stop('SIGKILL');

    const { code, data } = await recover(old, '--apply');
    expect([code, data.state]).toEqual([0, 'applied']);
    expect(data).toMatchObject({
      transactions: { redeem: 1 },
      redemptions: [{ cost: 2, consent: 'permit' }],
    });
    await agrees(old);
    const service = await start(old);
    const again = await redeem(service, permit);
    expect(again.status, JSON.stringify(again.body)).not.toBe(200);
    expect(await held(user.address)).toBe(18n);
    await service.stop();
    await agrees(old);
  });

  test('where two ledgers served at once, the one that lost gives its promise another sequence, once the chain is final', async () => {
    const first = await start(ledger.url);
    const alice = await earn(first, 'alice@people.example');
    await first.stop();
    const old = await ledger.copy();
    const winner = await start(ledger.url);
    await kit.rpc('evm_setAutomine', [false]);
    const bob = await earn(winner, 'bob@people.example');
    await winner.stop('SIGKILL');
    // The other ledger sees no pool, and signs under the same nonce.
    const proxy = await startRpcProxy({ target: kit.anvil.url });
    proxy.add({ fault: 'empty-pool' });
    const loser = await start(old, {
      REWARDS_RPC_URL: `${proxy.url},${proxy.url}/?again`,
      REWARDS_DUPLICATE_WINDOW: '0s',
    });
    const asked = loser.event({ brandId, userEmail: 'alice@people.example' }).catch(() => undefined);
    await until('its bytes', () => proxy.sent.length > 0);
    await loser.stop('SIGKILL');
    await asked;
    await proxy.stop();
    await mine(1);
    expect(await held(bob)).toBe(5n);

    const waits = await recover(old, '--apply');
    expect([waits.code, waits.error.code]).toEqual([75, 'E_RECOVERY_WAITS']);
    await mine(70);
    const { code, data, error } = await recover(old, '--apply');
    expect([code, error]).toEqual([0, null]);
    expect(data.rewards).toMatchObject([{ wallet: bob.toLowerCase(), amount: 5 }]);
    expect(data.released.length).toBeGreaterThan(0);
    await agrees(old);
    await kit.rpc('evm_setAutomine', [true]);
    const service = await start(old);
    const dora = await earn(service, 'dora@people.example');
    await until('the rewards', async () => (await held(dora)) === 5n && (await held(alice)) === 10n);
    await service.stop();
    expect(await agrees(old)).toMatchObject({ rewards: 4 });
    expect(await held(bob)).toBe(5n);
    expect((await refused(old)).code).toBe(0);
  });
});

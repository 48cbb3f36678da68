/** An old copy knows a relayed purchase, and a better offer of it was lost: it is bought once, with `rewards recover` and without. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  maxUint256,
  parseGwei,
  parseTransaction,
  toHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { perkNFTAbi } from '../../src/chain/contracts/abis.ts';
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

/** A perk that anybody may have for nothing. */
const FREE = 99n;
const buyer = privateKeyToAccount(generatePrivateKey());

type Shown = Record<'hash' | 'from' | 'to' | 'nonce' | 'input' | 'gas' | 'maxFeePerGas', Hex>;

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.stop());

let kit: ProductionKit;
let ledger: CopiedLedger;
let settings: Record<string, string>;
const stops: (() => unknown)[] = [];
beforeEach(async () => {
  kit = await startProductionKit();
  settings = {
    ...issuer.settings,
  };
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await kit.stop();
  await ledger?.stop();
});
const { start, agrees } = productionOf(() => kit);

async function recover(url: string, how: '--plan' | '--apply', change: Record<string, string> = {}) {
  const env = kit.environment(url, { REWARDS_ALLOW_SQLITE: 'true', ...change });
  const { code, envelope } = await rewardsJson(['recover', how], { env });
  return { code, data: envelope.data, error: envelope.error ?? null };
}

const mine = async (blocks: number) => void (await kit.rpc('anvil_mine', [toHex(blocks)]));
const bought = () =>
  createPublicClient({ transport: http(kit.anvil.url) }).readContract({
    address: kit.contracts.perks,
    abi: perkNFTAbi,
    functionName: 'balanceOf',
    args: [buyer.address, FREE],
  });

async function pendingPurchase(): Promise<Shown | undefined> {
  const { transactions } = (await kit.rpc('eth_getBlockByNumber', ['pending', true])) as {
    transactions: Shown[];
  };
  return transactions.find(({ to }) => to?.toLowerCase() === kit.contracts.perks.toLowerCase());
}

/** A ledger with a purchase that waits in the pool, as it was when the service was stopped. */
async function waitingPurchase(): Promise<{ old: string; sent: Shown }> {
  const args = [FREE, 0n, maxUint256, brandId, true] as const;
  const data = encodeFunctionData({ abi: perkNFTAbi, functionName: 'setPerk', args });
  const admin = createWalletClient({ account: kit.accounts.admin, transport: http(kit.anvil.url) });
  await admin.sendTransaction({ chain: null, to: kit.contracts.perks, data });
  const service = await start(ledger.url, settings);
  await kit.rpc('evm_setAutomine', [false]);
  const token = await issuer.tokenOf(buyer.address);
  const call = {
    to: kit.contracts.perks,
    userAddress: buyer.address,
    data: encodeFunctionData({
      abi: perkNFTAbi,
      functionName: 'purchaseFor',
      args: [buyer.address, FREE, 0n],
    }),
  };
  const asked = fetch(`${service.ready.urls.events}/relay`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-proto': 'https',
      origin: 'https://shop.example',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify(call),
  }).catch(() => undefined);
  await until('the purchase to wait in the pool', async () => (await pendingPurchase()) !== undefined);
  const sent = await pendingPurchase();
  await service.stop('SIGKILL');
  await asked;
  if (!sent) throw new Error('the purchase left the pool');
  return { old: await ledger.copy(), sent };
}

/** What the lost ledger would have signed as a later offer of it. */
const offerOf = (sent: Shown, gwei: string): Promise<Hex> =>
  kit.accounts.relay.signTransaction({
    chainId: CHAIN_ID,
    type: 'eip1559',
    nonce: Number(sent.nonce),
    to: kit.contracts.perks,
    data: sent.input,
    gas: BigInt(sent.gas),
    maxFeePerGas: parseGwei(gwei),
    maxPriorityFeePerGas: parseGwei('30'),
  });
const send = (raw: Hex) => kit.rpc('eth_sendRawTransaction', [raw]);

/** A node whose pool has this offer, whatever another one's has. */
async function nodeWith(raw: Hex, place: 'pending' | 'queued'): Promise<string> {
  const {
    nonce = 0,
    gas = 0n,
    maxFeePerGas = 0n,
    maxPriorityFeePerGas = 0n,
    ...rest
  } = parseTransaction(raw);
  const { data = '0x', to, r, s, yParity } = rest;
  const from = kit.accounts.relay.address;
  const fees = { maxFeePerGas: toHex(maxFeePerGas), maxPriorityFeePerGas: toHex(maxPriorityFeePerGas) };
  const signature = { r, s, yParity: toHex(yParity ?? 0) };
  const what = { hash: keccak256(raw), from, to, input: data, value: '0x0', type: '0x2', accessList: [] };
  const shown = {
    ...what,
    ...fees,
    ...signature,
    nonce: toHex(nonce),
    gas: toHex(gas),
    chainId: toHex(CHAIN_ID),
  };
  return nodeLike(async (method, params) => {
    if (method === 'eth_getBlockByNumber' && params[0] === 'pending') return { result: null };
    if (method !== 'txpool_contentFrom') return undefined;
    const own = String(params[0]).toLowerCase() === from.toLowerCase() ? { [nonce]: shown } : {};
    return { result: { pending: {}, queued: {}, [place]: own } };
  });
}

/** A node that answers as the kit's does, where it has no answer of its own. */
async function nodeLike(
  own: (method: string, params: unknown[]) => Promise<object | undefined>,
): Promise<string> {
  const answer = async ({ id, method, params }: { id: unknown; method: string; params: unknown[] }) => {
    const answered = (await own(method, params)) ?? { result: await kit.rpc(method, params) };
    return { jsonrpc: '2.0', id, ...answered };
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const answers = Array.isArray(body) ? await Promise.all(body.map(answer)) : await answer(body);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a service on it, and lets everything become final. */
async function isBoughtOnce(old: string): Promise<void> {
  await kit.rpc('evm_setAutomine', [true]);
  const service = await start(old, settings);
  await mine(1);
  await until('the purchase', async () => (await bought()) === 1n);
  await mine(70);
  await service.stop();
  await agrees(old, settings);
  // Another service finds everything final, and nothing to do.
  const next = await start(old, settings);
  await mine(2);
  await next.stop();
  expect(await pendingPurchase()).toBe(undefined);
  expect(await bought()).toBe(1n);
}

/** The purchase is in no block that the ledger knows of. */
const isOpen = async (service: Started) => (await service.inNoBlock('relay')) > 0;

/** A service that found the offer by itself: it has sent nothing for it, and another one finds nothing to do. */
async function isSettledOnce(old: string, service: Started): Promise<void> {
  await kit.rpc('evm_setAutomine', [true]);
  // In a block, or final already: the blocks before may all have been read by then. No lane is shown before a first look.
  const hasLooked = async () => /^rewards_lane_nonce\{/m.test((await service.admin('/metrics')).body);
  await until('the purchase to be booked', async () => (await hasLooked()) && !(await isOpen(service)));
  await mine(70);
  await service.stop();
  await isBoughtOnce(old);
}

describe.each(ledgerKinds)('$kind', ({ open }) => {
  beforeEach(async () => {
    ledger = await open(kit.folder);
  });

  test('the better offer waits in a pool: it is taken in, and told', async () => {
    const { old, sent } = await waitingPurchase();
    const raw = await offerOf(sent, '90');
    await send(raw);
    const planned = await recover(old, '--plan');
    expect(planned.data).toMatchObject({ state: 'planned', attempts: [{ hash: keccak256(raw) }] });
    const { code, data } = await recover(old, '--apply');
    expect(code).toBe(0);
    expect(data).toMatchObject({ state: 'applied', transactions: { relay: 1 }, relays: [], released: [] });
    expect(data.attempts).toMatchObject([{ hash: keccak256(raw), nonce: Number(sent.nonce), block: null }]);
    expect((await recover(old, '--apply')).data.state).toBe('nothing');
    await isBoughtOnce(old);
  });

  test('a block has taken the better offer: the purchase is settled by it', async () => {
    const { old, sent } = await waitingPurchase();
    const raw = await offerOf(sent, '90');
    await send(raw);
    await mine(1);
    expect(await bought()).toBe(1n);
    const { code, data } = await recover(old, '--apply');
    expect(code).toBe(0);
    expect(data).toMatchObject({ attempts: [{ hash: keccak256(raw) }], relays: [], released: [] });
    await isBoughtOnce(old);
  });

  test('a node counts the better offer and does not show it: nothing starts before a block has it', async () => {
    const { old, sent } = await waitingPurchase();
    const proxy = await startRpcProxy({ target: kit.anvil.url });
    stops.push(() => proxy.stop());
    proxy.add({ fault: 'hidden-pool' });
    const hidden = { REWARDS_RPC_URL: proxy.url };
    // It has the offer that the ledger knows: nothing is missing.
    expect((await recover(old, '--plan', hidden)).data.state).toBe('nothing');
    await send(await offerOf(sent, '90'));
    const nonce = Number(sent.nonce);
    const { code, error, data } = await recover(old, '--apply', hidden);
    expect([code, error?.code]).toEqual([75, 'E_RECOVERY_PENDING']);
    const account = kit.accounts.relay.address;
    expect(data.pendingUnknown).toEqual([{ account, fromNonce: nonce, nextNonce: nonce + 1 }]);
    const env = kit.environment(old, { REWARDS_ALLOW_SQLITE: 'true', ...settings });
    const refused = await rewardsJson(['start', '--check'], { env });
    expect(refused.envelope.error?.code).toBe('E_RECOVERY_UNFINISHED');
    await mine(1);
    const again = await recover(old, '--apply', hidden);
    expect([again.code, again.error]).toEqual([0, null]);
    expect(again.data.attempts).toHaveLength(1);
    await isBoughtOnce(old);
  });

  test('no node says what waits: nothing is planned or applied as if nothing did', async () => {
    const { old, sent } = await waitingPurchase();
    const proxy = await startRpcProxy({ target: kit.anvil.url });
    stops.push(() => proxy.stop());
    proxy.add({ fault: 'silent-pool' });
    await send(await offerOf(sent, '90'));
    for (const what of ['--plan', '--apply'] as const) {
      const { code, error } = await recover(old, what, { REWARDS_RPC_URL: proxy.url });
      expect([what, code, error?.code]).toEqual([what, 3, 'E_RPC_UNREACHABLE']);
    }
    expect((await recover(old, '--apply')).code).toBe(0);
    await isBoughtOnce(old);
  });

  test.each(['pending', 'queued'] as const)(
    "two nodes have different offers, one's $0: each is taken in, and the highest is outbid",
    async (place) => {
      const { old, sent } = await waitingPurchase();
      const [low, high] = [await offerOf(sent, '90'), await offerOf(sent, '120')];
      await send(high);
      const nodes = { REWARDS_RPC_URL: `${kit.anvil.url},${await nodeWith(low, place)}` };
      const { code, data } = await recover(old, '--apply', nodes);
      expect(code).toBe(0);
      const hashes = data.attempts.map(({ hash }: { hash: Hex }) => hash);
      expect(hashes.sort()).toEqual([keccak256(low), keccak256(high)].sort());
      expect((await recover(old, '--plan', nodes)).data.state).toBe('nothing');
      // The lower one comes into the block after all.
      await kit.rpc('anvil_dropTransaction', [keccak256(high)]);
      await send(low);
      await mine(1);
      await isBoughtOnce(old);
    },
  );

  test('nobody recovers, and a block has taken the better offer: the purchase is settled by it', async () => {
    const { old, sent } = await waitingPurchase();
    await send(await offerOf(sent, '90'));
    await mine(1);
    const service = await start(old, settings);
    // It is read in a block that is final by now.
    await mine(70);
    await isSettledOnce(old, service);
  });

  test('nobody recovers, and the better offer waits in a pool: the block that takes it settles the purchase', async () => {
    const { old, sent } = await waitingPurchase();
    await send(await offerOf(sent, '90'));
    const service = await start(old, settings);
    await mine(2);
    expect(await bought()).toBe(1n);
    await isSettledOnce(old, service);
  });

  test('nobody recovers, and the node lacks old states: nothing is decided before one tells', async () => {
    const { old, sent } = await waitingPurchase();
    await send(await offerOf(sent, '90'));
    await mine(70);
    let [isPruned, refused] = [true, 0];
    const node = await nodeLike(async (method, params) => {
      const isOld = method === 'eth_getTransactionCount' && String(params[1]).startsWith('0x');
      if (!isPruned || !isOld) return undefined;
      refused += 1;
      return { error: { code: -32000, message: 'missing trie node' } };
    });
    const service = await start(old, { ...settings, REWARDS_RPC_URL: `${node},${node}/?again` });
    const alarm = () => service.metric('rewards_alarms{code="nonce_lost"}');
    await until('the alarm', async () => (await alarm()) === 1);
    await mine(70);
    await kit.rpc('evm_setAutomine', [true]);
    const before = refused;
    await until('two more looks', () => refused > before + 1);
    expect([await isOpen(service), await bought()]).toEqual([true, 1n]);
    isPruned = false;
    await until('the alarm to end', async () => (await alarm()) === 0);
    await isSettledOnce(old, service);
  });
});

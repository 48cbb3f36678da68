/** A relayed call from the first question to the node until it is queued: what it may use, who pays, and why it is not sent. */
import { encodeErrorResult, encodeFunctionData, getAddress, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRelayTransaction, type RelayRequest } from '../../src/actions/relay/relay-transaction.ts';
import { perkNFTAbi } from '../../src/chain/contracts/abis.ts';
import { type Permit, permitCall } from '../../src/chain/contracts/permit.ts';
import { RpcAnswerError } from '../../src/chain/rpc/rpc.ts';
import { budgetDay, DAY_MS } from '../../src/ledger/relay/gas-budgets.ts';
import { ensureGasWallet, setGasWalletReady } from '../../src/ledger/relay/gas-wallets.ts';
import { pregeneratedUsers } from '../../src/ledger/schema/wallets.ts';
import { signPermit } from '../kits/chain/wallet.ts';
import { freshAddress, freshHash } from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';
import { scriptedNode, type TriedOnNode, tokenDomain } from './scripted-node.ts';

const GWEI = 10n ** 9n;
const MARGIN_MS = 30_000;
const contracts = {
  token: tokenDomain.verifyingContract,
  escrow: freshAddress(),
  perks: freshAddress(),
  pointsSale: freshAddress(),
};
const account = privateKeyToAccount(generatePrivateKey());
const user = account.address.toLowerCase() as Hex;
const done = { status: 'included', outcome: 'done', hash: freshHash() };
const serviceWallet = freshAddress();
const brandWallet = freshAddress();

let ledger: TestLedger;
let brand: { brandId: Hex; domain: string };
let poor: { brandId: Hex; domain: string };
let node: ReturnType<typeof scriptedNode>;
/** What was queued, and what the queue says. */
let queued: Record<string, unknown>[];
let answer: unknown;
let steps: unknown[];

async function walletOf(payer: Hex | 'service', address: Hex) {
  await ledger.database.atomically((tx) =>
    ensureGasWallet(tx, { payer, addressAt: () => address, nowMs: START_MS }),
  );
  await setGasWalletReady(ledger.database.db, payer, true);
}
beforeAll(async () => {
  ledger = await openLedger();
  brand = (await someBrand(ledger, { gasBudget: 0.25 })) as unknown as typeof brand;
  poor = (await someBrand(ledger)) as unknown as typeof poor;
  await walletOf(brand.brandId, brandWallet);
  for (const { brandId } of [brand, poor])
    await ledger.database.db.insert(pregeneratedUsers).values({ brandId, userKey: 'alice@demo.example' });
});
afterAll(() => ledger.close());
beforeEach(async () => {
  node = scriptedNode();
  [queued, steps] = [[], []];
  answer = { queued: true, window: { limit: 2, remaining: 1, resetAtMs: 5 } };
  await walletOf('service', serviceWallet);
});

type Deps = Parameters<typeof createRelayTransaction>[0];
const relay = () =>
  createRelayTransaction({
    ...ledger,
    contracts,
    rpc: node.rpc,
    chain: node.chain,
    async queue(wish: Record<string, unknown>) {
      queued.push(wish);
      return answer;
    },
    relays: {
      async waitFor(wanted: unknown) {
        steps.push(wanted);
        return done;
      },
      nudge: (lane: string) => void steps.push(lane),
    },
    settings: {
      userLimit: { scope: 'relay user', limit: 2, windowMs: 60_000 },
      gasMax: 500_000,
      permitMarginMs: MARGIN_MS,
      answerTimeoutMs: 7_000,
      batchMax: 10,
      userShare: 0.05,
      budgetGwei: 2_000_010,
      fees: { feeCapWei: 100n * GWEI, priorityFeeWei: GWEI },
    },
  } as unknown as Deps);

const data = encodeFunctionData({ abi: perkNFTAbi, functionName: 'purchaseFor', args: [user, 1n, 5n] });
const ask = (change: Partial<RelayRequest> = {}, effect?: { id: string }) =>
  relay()(
    { to: contracts.perks, data, valueWei: 0n, userAddress: user, wallets: [user], ...change },
    effect && { ...effect, mayExist: false, renew: () => Promise.reject(new Error('nothing was undone')) },
  );
/** Why it was not sent, as its caller is told. */
async function problem(change?: Partial<RelayRequest>) {
  const { refusal } = (await ask(change)) as { refusal?: { code: string; problem?: unknown } };
  expect(queued).toEqual([]);
  expect(refusal).toMatchObject({ contract: contracts.perks, allowed: Object.values(contracts) });
  return refusal?.code === 'validation_failed' ? refusal.problem : refusal;
}
async function permit(change: { nonce?: bigint; spender?: Hex; deadlineMs?: number } = {}): Promise<Permit> {
  const { nonce = 5n, spender = contracts.perks, deadlineMs = START_MS + 3_600_000 } = change;
  const { v, r, s, deadline } = await signPermit(account, {
    domain: tokenDomain,
    owner: user,
    spender,
    value: 9n,
    nonce,
    deadline: BigInt(deadlineMs / 1_000),
  });
  return { owner: user, spender, value: 9n, deadlineSeconds: deadline, v, r, s } as Permit;
}

describe('a call that is expected to succeed', () => {
  test('is queued with what it needs and a reserve, at the most that it can cost', async () => {
    const outcome = await ask({}, { id: 'its id' });
    expect(outcome).toEqual({
      grounds: {
        contract: 'perks',
        function: 'purchaseFor(address,uint256,uint256)',
        payer: 'service',
        gas: 150_000,
      },
      window: { limit: 2, remaining: 1, resetAtMs: 5 },
      relayed: done,
    });
    expect(node.world.tried).toEqual([
      [{ from: serviceWallet, to: contracts.perks, data, value: '0x0', gas: '0x7a120' }],
    ]);
    expect(queued).toEqual([
      {
        id: 'its id',
        lane: serviceWallet,
        payer: 'service',
        userAddress: user,
        recipient: contracts.perks,
        data,
        valueWei: '0',
        gas: 150_000,
        permit: null,
        // 150,000 gas at twice the base fee and the builder's gwei.
        reservedGwei: 150_000 * 21 + 1,
        budgetDay: budgetDay(START_MS),
        createdAt: START_MS,
        budgetGwei: 2_000_010,
        shareGwei: 100_000,
      },
    ]);
    expect(steps).toEqual([{ id: 'its id', timeoutMs: 7_000 }, serviceWallet]);
  });

  test('has an id of its own without a key', async () => {
    await ask();
    await ask();
    expect(new Set(queued.map(({ id }) => id)).size).toBe(2);
  });

  test.each([
    ['what its caller allows, if that is less', 100_000n, 130_000, 130_000],
    ['no more than is paid for', 176_000n, undefined, 220_000],
    ['no part of a unit', 100_001n, undefined, 150_003],
  ])('gets %s', async (_, used, gasLimit, gas) => {
    node.world.tries = [used];
    await ask({ gasLimit });
    expect(queued).toMatchObject([{ gas }]);
    expect(node.world.tried[0]?.[0]?.gas).toBe(`0x${(gasLimit ?? 500_000).toString(16)}`);
  });

  test('is charged for its data on another chain with half of that more', async () => {
    node.world.l1WeiPerByte = 2n * GWEI;
    await ask();
    const bytes = data.length / 2 - 1;
    expect(queued).toMatchObject([{ reservedGwei: 150_000 * 21 + 3 * bytes + 1 }]);
  });
});

describe('whose gas it is', () => {
  const paid = () =>
    queued.map(({ payer, lane, budgetGwei, shareGwei }) => [payer, lane, budgetGwei, shareGwei]);
  const ofBrand = () => [brand.brandId, brandWallet, 250_000_000, 12_500_000];
  const ofService = ['service', serviceWallet, 2_000_010, 100_000];
  const allowing = (): Partial<RelayRequest> => ({
    to: contracts.token,
    data: permitCall({
      owner: user,
      spender: user,
      value: 1n,
      deadlineSeconds: 1n,
      v: 27,
      r: freshHash(),
      s: freshHash(),
    }),
  });

  test("the brand's whose perk is bought, however the chain spells it", async () => {
    node.world.perkBrand = getAddress(brand.brandId);
    await ask({ originHost: poor.domain, email: 'alice@demo.example' });
    expect(paid()).toEqual([ofBrand()]);
  });

  test("the service's when it is a brand that the service does not know, or another perk", async () => {
    await ask({ originHost: brand.domain, email: 'alice@demo.example' });
    node.world.perkBrand = brand.brandId;
    await ask({
      data: encodeFunctionData({ abi: perkNFTAbi, functionName: 'purchaseFor', args: [user, 2n, 5n] }),
    });
    expect(paid()).toEqual([ofService, ofService]);
  });

  test("the brand's budget and the service's wallet while the brand's cannot send", async () => {
    node.world.perkBrand = poor.brandId;
    await ask();
    expect(paid()).toEqual([[poor.brandId, serviceWallet, 2_000_010, 100_000]]);
  });

  test("of a call that buys nothing: the brand's of the page if it knows the user, and else the service's", async () => {
    node.world.tries = [50_000n];
    await ask({ ...allowing(), originHost: brand.domain, email: 'alice@demo.example' });
    await ask({ ...allowing(), originHost: brand.domain, email: 'bob@demo.example' });
    await ask({ ...allowing(), originHost: 'elsewhere.example', email: 'alice@demo.example' });
    await ask({ ...allowing(), email: 'alice@demo.example' });
    expect(paid()).toEqual([ofBrand(), ofService, ofService, ofService]);
  });
});

describe('its permit', () => {
  test('is tried out before it and goes before it, with gas of its own', async () => {
    node.world.tries = [50_000n, 100_000n];
    const signed = await permit();
    await ask({ permit: signed });
    const call = { to: contracts.token, data: permitCall(signed) };
    expect(node.world.tried).toEqual([
      [
        { from: serviceWallet, ...call, value: '0x0', gas: '0x7a120' },
        { from: serviceWallet, to: contracts.perks, data, value: '0x0', gas: '0x7a120' },
      ] satisfies TriedOnNode[],
    ]);
    const both = 150_000 + 75_000;
    expect(queued).toMatchObject([
      { gas: 150_000, permit: { ...call, gas: 75_000 }, reservedGwei: both * 21 + 1 },
    ]);
  });

  test('gets no more gas than is paid for', async () => {
    node.world.tries = [90_000n, 100_000n];
    await ask({ permit: await permit() });
    expect(queued).toMatchObject([{ permit: { gas: 120_000 } }]);
  });

  test('pays for its data on another chain too', async () => {
    node.world.l1WeiPerByte = 2n * GWEI;
    node.world.tries = [50_000n, 100_000n];
    const signed = await permit();
    await ask({ permit: signed });
    const bytes = (data.length + permitCall(signed).length) / 2 - 2;
    expect(queued).toMatchObject([{ reservedGwei: 225_000 * 21 + 3 * bytes + 1 }]);
  });

  test('is left out when it was used already, whatever its deadline, as long as the call succeeds', async () => {
    node.world.allowance = 9n;
    await ask({ permit: await permit({ nonce: 4n, deadlineMs: START_MS - 1_000 }) });
    expect(node.world.tried.map((calls) => calls.length)).toEqual([1]);
    expect(queued).toMatchObject([{ gas: 150_000, permit: null }]);
    queued = [];
    const reverted = encodeErrorResult({ abi: perkNFTAbi, errorName: 'PerkSoldOut', args: [7n] });
    node.world.tries = [{ reverted }];
    expect(await problem({ permit: await permit({ nonce: 4n }) })).toEqual({
      reason: 'permit_consumed',
      allowance: '9',
      error: 'PerkSoldOut(7)',
    });
  });

  test.each<[string, Parameters<typeof permit>[0], object]>([
    ['signed for another nonce', { nonce: 6n }, { reason: 'permit_not_signed' }],
    [
      'for a spender that is not ours',
      { spender: serviceWallet },
      { reason: 'permit_spender_not_allowed', spender: serviceWallet },
    ],
    [
      'that may end before its block comes',
      { deadlineMs: START_MS + MARGIN_MS - 1_000 },
      { reason: 'permit_expired', deadlineSeconds: String((START_MS + MARGIN_MS) / 1_000 - 1) },
    ],
  ])('is refused: one %s', async (_, change, refusal) => {
    expect(await problem({ permit: await permit(change) })).toEqual(refusal);
    expect(node.world.tried).toEqual([]);
  });

  test('is refused: one of somebody else', async () => {
    expect(await problem({ permit: { ...(await permit()), owner: freshAddress() } })).toEqual({
      reason: 'permit_not_of_user',
    });
  });

  test('is taken until the last second of its margin', async () => {
    node.world.tries = [50_000n, 100_000n];
    await ask({ permit: await permit({ deadlineMs: START_MS + MARGIN_MS }) });
    expect(queued).toHaveLength(1);
  });

  test('is refused when it would fail, and the call after it when that would', async () => {
    node.world.tries = [{ reverted: '0x' }, 100_000n];
    const error = 'reverted without a reason';
    expect(await problem({ permit: await permit() })).toEqual({
      reason: 'would_fail',
      part: 'permit',
      error,
    });
    node.world.tries = [50_000n, { reverted: '0x' }];
    expect(await problem({ permit: await permit() })).toEqual({ reason: 'would_fail', part: 'call', error });
  });
});

describe('a call is not sent', () => {
  test('when it would fail', async () => {
    node.world.tries = [{ reverted: '0xdeadbeef' }];
    expect(await problem()).toEqual({
      reason: 'would_fail',
      part: 'call',
      error: 'reverted with 0xdeadbeef',
    });
  });

  test('when it needs more gas than is paid for', async () => {
    node.world.tries = [176_001n];
    expect(await problem()).toEqual({
      reason: 'needs_too_much_gas',
      function: 'purchaseFor(address,uint256,uint256)',
      gasNeeded: 220_002,
      gasMax: 220_000,
    });
  });

  test('while gas costs more than is ever offered', async () => {
    node.world.baseFeeWei = 100n * GWEI + 1n;
    expect(await problem()).toEqual({ reason: 'gas_price_over_limit', capWei: String(100n * GWEI) });
  });

  test('while no wallet can send, no block is known, or the node answers with an error', async () => {
    const away = { refusal: { code: 'relay_unavailable' }, window: { remaining: 2 } };
    node.world.fault = new RpcAnswerError('eth_call', { code: -32000, message: 'busy' });
    expect(await ask()).toMatchObject(away);
    node.world.fault = undefined;
    const { block } = node.chain;
    node.chain.block = (async () => undefined) as unknown as typeof block;
    expect(await ask()).toMatchObject(away);
    node.chain.block = block;
    await setGasWalletReady(ledger.database.db, 'service', false);
    expect(await ask()).toMatchObject(away);
    expect(queued).toEqual([]);
  });

  test('and an error that does not come from a node is not a refusal', async () => {
    node.world.fault = new TypeError('a fault');
    await expect(ask()).rejects.toBe(node.world.fault);
  });

  test.each([
    [
      { queued: false, reason: 'gas_budget', of: 'user', resetAtMs: DAY_MS },
      { code: 'gas_budget_exceeded', of: 'user', resetAtMs: DAY_MS },
      { limit: 2, remaining: 2 },
    ],
    [
      { queued: false, reason: 'rate_limit', window: { limit: 2, remaining: 0, resetAtMs: 9 } },
      { code: 'rate_limit_exceeded', scope: 'user', window: { limit: 2, remaining: 0, resetAtMs: 9 } },
      { limit: 2, remaining: 0, resetAtMs: 9 },
    ],
  ])('when the queue says so: %j', async (said, refusal, window) => {
    answer = said;
    expect(await ask()).toMatchObject({ refusal, window, grounds: { payer: 'service', gas: 150_000 } });
    expect(steps).toEqual([]);
  });
});

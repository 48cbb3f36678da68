/** A relayed call as far as the ledger and its own bytes decide it: what is refused unasked, and what an earlier try has sent. */
import { encodeFunctionData } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRelayQueue } from '../../src/actions/relay/queue-relays.ts';
import { createRelayTransaction, type RelayRequest } from '../../src/actions/relay/relay-transaction.ts';
import { perkNFTAbi } from '../../src/chain/contracts/abis.ts';
import { RpcUnreachableError } from '../../src/chain/rpc/rpc.ts';
import { takeFromWindow } from '../../src/ledger/limits/rate-windows.ts';
import { budgetDay } from '../../src/ledger/relay/gas-budgets.ts';
import { gasOfData } from '../../src/rules/relay-policy.ts';
import { freshAddress, freshHash, freshKey } from '../kits/databases/databases.ts';
import { openLedger, START_MS, type TestLedger } from './ledger.ts';

const contracts = {
  token: freshAddress(),
  escrow: freshAddress(),
  perks: freshAddress(),
  pointsSale: freshAddress(),
};
const allowed = Object.values(contracts);
const userLimit = { scope: 'relay user', limit: 2, windowMs: 60_000 };
const user = freshAddress();
let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

type Deps = Parameters<typeof createRelayTransaction>[0];
const done = { status: 'included', outcome: 'done', hash: freshHash() };

/** A relay whose node does not answer; calls that are queued are `progress` far. */
function relay(progress: object | null = done) {
  const steps: unknown[] = [];
  const away = () => Promise.reject(new RpcUnreachableError('eth_call', 'no answer'));
  const deps = {
    ...ledger,
    contracts,
    rpc: away,
    chain: { block: away },
    queue: () => Promise.reject(new Error('nothing is queued here')),
    relays: {
      async waitFor(wanted: unknown) {
        steps.push(wanted);
        return progress ?? undefined;
      },
      nudge: (lane: string) => void steps.push(lane),
    },
    settings: {
      userLimit,
      gasMax: 500_000,
      answerTimeoutMs: 7_000,
      batchMax: 10,
      userShare: 0.05,
      budgetGwei: 100,
      fees: {},
    },
  } as unknown as Deps;
  return { send: createRelayTransaction(deps), steps };
}

const buyFor = (address: `0x${string}`) =>
  encodeFunctionData({ abi: perkNFTAbi, functionName: 'purchaseFor', args: [address, 1n, 5n] });
const call = (change: Partial<RelayRequest> = {}): RelayRequest => ({
  to: contracts.perks,
  data: buyFor(user),
  valueWei: 0n,
  userAddress: user,
  wallets: [user],
  ...change,
});

describe('a call is refused without a question to the chain', () => {
  const gasMin = gasOfData(call().data);
  const elsewhere = freshAddress();
  const invalid = (problem: object, to = contracts.perks) => ({
    code: 'validation_failed',
    contract: to,
    allowed,
    problem,
  });
  test.each<[string, Partial<RelayRequest>, object]>([
    [
      'to another contract',
      { to: elsewhere },
      { code: 'contract_not_whitelisted', contract: elsewhere, allowed },
    ],
    ['for another wallet', { wallets: [elsewhere] }, invalid({ reason: 'not_your_wallet' })],
    [
      'with too much gas',
      { gasLimit: 500_001 },
      invalid({ reason: 'gas_over_limit', gasLimit: 500_001, gasMax: 500_000 }),
    ],
    [
      'with too little',
      { gasLimit: gasMin - 1 },
      invalid({ reason: 'gas_below_need', gasLimit: gasMin - 1, gasMin }),
    ],
    ['of no function', { data: '0xdeadbeef' }, invalid({ reason: 'unknown_function' })],
    [
      'on behalf of another user',
      { data: buyFor(elsewhere) },
      invalid({ reason: 'not_the_user', function: 'purchaseFor(address,uint256,uint256)', argument: 0 }),
    ],
    ['with native currency', { valueWei: 1n }, invalid({ reason: 'value_not_allowed', maxWei: '0' })],
  ])('%s', async (_, change, refusal) => {
    const outcome = await relay().send(call(change));
    expect('refusal' in outcome && outcome.refusal).toEqual(refusal);
    expect(outcome).not.toHaveProperty('window');
  });

  test('within its bounds of gas it is looked at, and the node is away', async () => {
    for (const gasLimit of [gasMin, 500_000, undefined])
      expect(await relay().send(call({ gasLimit }))).toEqual({
        grounds: { contract: 'perks', function: 'purchaseFor(address,uint256,uint256)' },
        refusal: { code: 'relay_unavailable' },
        window: { limit: 2, remaining: 2, resetAtMs: START_MS + 60_000 },
      });
  });

  test("when the user's window is used up", async () => {
    const other = freshAddress();
    const use = { ...userLimit, subject: other, now: ledger.businessTime() };
    for (let used = 0; used < 2; used++) await takeFromWindow(ledger.database.db, use);
    const window = { limit: 2, remaining: 0, resetAtMs: START_MS + 60_000 };
    const asked = call({ userAddress: other, wallets: [other], data: buyFor(other) });
    expect(await relay().send(asked)).toMatchObject({
      window,
      refusal: { code: 'rate_limit_exceeded', scope: 'user', window },
    });
  });
});

describe('a call that an earlier try has queued', () => {
  const lane = freshAddress();
  const queued = async () => {
    const id = freshKey('call');
    const { queue } = createRelayQueue({ ...ledger, userLimit, batchMax: 1, triesMax: 1 });
    await queue({
      id,
      lane,
      payer: 'service',
      userAddress: freshAddress(),
      recipient: contracts.perks,
      data: '0x01',
      valueWei: '0',
      gas: 1,
      permit: null,
      reservedGwei: 1,
      budgetDay: budgetDay(START_MS),
      createdAt: START_MS,
      budgetGwei: 100,
      shareGwei: 100,
    });
    return id;
  };
  const renew = () => Promise.reject(new Error('nothing was undone'));

  test.each<[string, object | null, object]>([
    ['done', done, { relayed: done }],
    ['reverted', { ...done, outcome: 'reverted' }, { refusal: { code: 'transaction_failed' } }],
    [
      'not in a block yet',
      { ...done, status: 'sent' },
      { refusal: { code: 'confirmation_timeout', hash: done.hash } },
    ],
    ['not heard of', null, { refusal: { code: 'confirmation_timeout', hash: null } }],
  ])('is not sent again; it is %s', async (_, progress, outcome) => {
    const id = await queued();
    const { send, steps } = relay(progress);
    expect(await send(call(), { id, mayExist: true, renew })).toMatchObject({
      ...outcome,
      window: { remaining: 2 },
    });
    expect(steps).toEqual([{ id, timeoutMs: 7_000 }, lane]);
  });

  test('is looked for only when there may be one', async () => {
    const id = await queued();
    for (const effect of [
      undefined,
      { id, mayExist: false, renew },
      { id: 'unknown', mayExist: true, renew },
    ])
      expect(await relay().send(call(), effect)).toMatchObject({ refusal: { code: 'relay_unavailable' } });
  });
});

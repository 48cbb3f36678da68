/** What the escrow does not pay: the reward fails alone, and its claim comes back once that is final. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { encodeFunctionData, type Hex, parseAbi, toHex } from 'viem';
import { afterEach, expect, test } from 'vitest';
import { crowd, type EngineKit, eventually, impatient, startEngineKit } from './kit.ts';

let kit: EngineKit | undefined;
afterEach(async () => {
  await kit?.stop();
  kit = undefined;
});

const finalityBlocks = 5;
const escrowAbi = parseAbi([
  'function withdraw(uint256 amount)',
  'function deposit(address brand, uint256 amount)',
]);
const tokenAbi = parseAbi(['function approve(address spender, uint256 amount)']);

/** Sends a call of the brand's own wallet, dear enough to be first in its block. */
async function asBrand({ rpc, brand }: EngineKit, call: { to: string; data: Hex }): Promise<void> {
  await rpc('anvil_impersonateAccount', brand.brandId);
  await rpc('anvil_setBalance', brand.brandId, toHex(10n ** 20n));
  await rpc('eth_sendTransaction', {
    from: brand.brandId,
    ...call,
    maxFeePerGas: toHex(90n * 10n ** 9n),
    maxPriorityFeePerGas: toHex(50n * 10n ** 9n),
    gas: toHex(200_000),
  });
}

const withdraw = (engine: EngineKit, amount: bigint) =>
  asBrand(engine, {
    to: engine.ready.contracts.escrow,
    data: encodeFunctionData({ abi: escrowAbi, functionName: 'withdraw', args: [amount] }),
  });

/** Transactions that the node has and no block. */
const pendingAt = async ({ rpc }: EngineKit) =>
  Number(((await rpc('txpool_status')) as { pending: Hex }).pending);

async function deposit(engine: EngineKit, amount: bigint): Promise<void> {
  const { token, escrow } = engine.ready.contracts;
  const approve = [escrow as Hex, amount] as const;
  await asBrand(engine, {
    to: token,
    data: encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: approve }),
  });
  const args = [engine.brand.brandId as Hex, amount] as const;
  await asBrand(engine, {
    to: escrow,
    data: encodeFunctionData({ abi: escrowAbi, functionName: 'deposit', args }),
  });
}

test('money withdrawn behind the ledger: the reward fails with its reason, the claim comes back, another try under its key is paid', async () => {
  const engine = await startEngineKit({ config: { engine: { ...impatient, follow: { finalityBlocks } } } });
  kit = engine;
  const [user = '', other = ''] = crowd(2);
  const limitHourTo = (spendPerHour: number) =>
    engine.change(`/brands/${engine.brand.brandId}`, { spendPerHour });
  await limitHourTo(200);
  await engine.rpc('evm_setAutomine', false);
  const keyed = { 'idempotency-key': 'order-1' };
  const waiting = engine.event({ userEmail: user }, keyed);
  // Written is not sent yet: what comes to the node after the block would stay in no block at all.
  await eventually(() => pendingAt(engine)).toBe(1);
  await withdraw(engine, 1_000_000n);
  await engine.mine();
  const answer = await waiting;
  expect(answer).toMatchObject({
    status: 500,
    body: { success: false, details: { reason: 'insufficient_brand_balance' } },
  });
  await engine.rpc('evm_setAutomine', true);
  expect(await engine.ledger.rewards()).toMatchObject([
    { failure: 'insufficient_brand_balance', releasedAt: null },
  ]);
  // A reorganisation may still take the failure back, so the key stands for this reward alone.
  expect(await engine.event({ userEmail: user }, keyed)).toMatchObject({
    status: 500,
    body: { details: { reason: 'insufficient_brand_balance' } },
  });
  expect(await engine.ledger.claims(user)).toBe(1);
  // Nothing is left to promise from.
  expect(await engine.event({ userEmail: other })).toMatchObject({ status: 500 });

  // One such reward an hour: the one that failed will not count.
  await limitHourTo(100);
  await engine.mine(finalityBlocks + 1);
  await eventually(() => engine.ledger.claims(user)).toBe(0);
  const funds = await engine.ledger.funds(engine.brand.brandId);
  expect(funds).toEqual({ deposited: 0, promised: 0 });
  expect((await engine.evidence()).paid).toEqual([]);
  const alarms = () => engine.logged.filter(({ alarm }) => alarm === 'reward_skipped');
  await eventually(async () => alarms().map(({ message }) => message)).toEqual(['alarm', 'alarm is over']);

  await deposit(engine, 1_000n);
  await eventually(() => engine.ledger.funds(engine.brand.brandId)).toEqual({
    deposited: 1_000,
    promised: 0,
  });
  const paid = await engine.event({ userEmail: user }, keyed);
  expect(paid).toMatchObject({ status: 200 });
  expect(await engine.event({ userEmail: user }, keyed)).toMatchObject({ status: 200, body: paid.body });
  expect((await engine.evidence()).paid).toHaveLength(1);
});

test('a poisoned neighbour: the others of its batch are paid', async () => {
  let poison = () => {};
  const crash = (point: string) => void (point === 'reserve.committed' && poison());
  const config = { engine: { ...impatient, follow: { finalityBlocks } }, crash };
  const engine = await startEngineKit({ config });
  kit = engine;
  await engine.rpc('evm_setAutomine', false);
  const users = crowd(9);
  const [first = ''] = users;
  const { escrow } = engine.ready.contracts;
  // The escrow pays nobody through itself. No event may ask for that, so the ledger is changed behind the service.
  poison = () => {
    const ledger = new Sqlite(join(engine.ready.dataDir, 'ledger.sqlite'));
    ledger.prepare('update rewards set wallet = ? where user_key = ?').run(escrow.toLowerCase(), first);
    ledger.close();
  };
  const waiting = Promise.all(users.map((userEmail) => engine.event({ userEmail })));
  await eventually(async () => (await engine.ledger.rewards()).length).toBe(9);
  await engine.rpc('evm_setAutomine', true);
  await engine.mine();
  const [poisoned, ...others] = await waiting;
  expect(poisoned).toMatchObject({ status: 500, body: { details: { reason: 'forbidden_recipient' } } });
  for (const { status } of others) expect(status).toBe(200);
  await engine.drained();
  expect((await engine.evidence()).paid).toHaveLength(8);
  expect(engine.alarms()).toContain('reward_skipped');
  await engine.mine(finalityBlocks + 1);
  await eventually(() => engine.ledger.claims(first)).toBe(0);
});

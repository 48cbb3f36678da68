/** Nodes that refuse a transaction because gas times price is above a cap of theirs (geth: --rpc.txfeecap). */
import { parseTransaction, toFunctionSelector, toHex } from 'viem';
import { afterEach, expect, test } from 'vitest';
import type { EngineOverrides } from '../../src/compose/config.ts';
import { crowd, type EngineKit, eventually, impatient, payoutSigner, startEngineKit } from './kit.ts';

let kit: EngineKit | undefined;
afterEach(async () => {
  await kit?.stop();
  kit = undefined;
});

const GWEI = 10n ** 9n;
/** One reward offers 0.0106 at a base fee of 50 gwei, and less than 0.001 at 1. */
const capWei = 10n ** 16n;
/** What a node has taken waits for a block as long as the test needs: it is not replaced meanwhile. */
const lane = { ...impatient.lane, untakenAfterMs: 1_000, bumpAfterMs: 60_000 };

/** A service on a node whose blocks come when the test says so: one more, of any other transaction, changes the price. */
async function start(overrides: EngineOverrides): Promise<EngineKit> {
  kit = await startEngineKit({ config: { engine: overrides } });
  await kit.rpc('evm_setAutomine', false);
  return kit;
}

/** Blocks come by themselves again, and everything is paid. */
async function paidAtLast(engine: EngineKit): Promise<void> {
  await engine.rpc('evm_setAutomine', true);
  await engine.mine();
  await engine.drained();
}

/** From the next block on, which the payout lane has then seen: a turn that had read the block before may not price a reward. */
async function gasCosts({ rpc, mine, proxy }: EngineKit, gwei: bigint): Promise<void> {
  await rpc('anvil_setNextBlockBaseFeePerGas', toHex(gwei * GWEI));
  await mine();
  const noncesAsked = () => proxy.counts.get(`eth_getTransactionCount ${payoutSigner.address}`) ?? 0;
  const before = noncesAsked();
  // Two in a turn, which ends before the next begins.
  await eventually(noncesAsked).toBeGreaterThan(before + 2);
}
/** What payouts offered; the service sent others when it began. */
const offered = ({ proxy }: EngineKit) =>
  proxy.sent
    .map(({ raw }) => parseTransaction(raw))
    .filter(({ data }) => data?.startsWith(toFunctionSelector('distributePacked(bytes)')));

test('payouts go on by themselves when gas falls; until then an alarm says that no node takes them', async () => {
  const engine = await start({ lane });
  engine.proxy.add({ fault: 'fee-cap', capWei });
  await gasCosts(engine, 50n);
  const waiting = engine.pay(crowd(1));
  await eventually(() => engine.alarms()).toContain('transaction_not_taken');
  expect((await engine.evidence()).paid).toEqual([]);
  expect(await engine.ledger.attempts()).toHaveLength(1);

  await gasCosts(engine, 1n);
  await paidAtLast(engine);
  await waiting;
  await eventually(() => engine.alarmsOver()).toContain('transaction_not_taken');
  const [first, second, ...more] = await engine.ledger.attempts();
  expect([first?.transactionId, more]).toEqual([second?.transactionId, []]);
  const fees = offered(engine).map(({ maxFeePerGas = 0n }) => maxFeePerGas);
  expect([fees[0], (fees.at(-1) ?? 0n) < 5n * GWEI]).toEqual([100n * GWEI, true]);
  expect(await engine.pay(crowd(1))).toMatchObject([{ kind: 'ok' }]);
  expect(await engine.violations()).toEqual([]);
});

test('gas that falls and rises to the very same prices again is followed each time', async () => {
  const engine = await start({ lane });
  engine.proxy.add({ fault: 'fee-cap', capWei: capWei / 10n });
  const refusals = () => engine.proxy.counts.get('fault fee-cap') ?? 0;
  await gasCosts(engine, 50n);
  const waiting = engine.pay(crowd(1));
  for (const [place, gwei] of [50n, 20n, 50n, 20n, 50n].entries()) {
    await gasCosts(engine, gwei);
    await eventually(async () => (await engine.ledger.attempts()).length).toBe(place + 1);
    const before = refusals();
    await eventually(refusals).toBeGreaterThan(before + 1);
  }
  await gasCosts(engine, 1n);
  await paidAtLast(engine);
  await waiting;
  expect(new Set((await engine.ledger.attempts()).map(({ hash }) => hash)).size).toBe(6);
  expect(await engine.violations()).toEqual([]);
});

test('bytes that a node may have are never signed again at a lower price', async () => {
  const engine = await start({ lane });
  engine.proxy.add({ fault: 'lost-request', method: /eth_sendRawTransaction/, times: 1 });
  engine.proxy.add({ fault: 'fee-cap', capWei });
  await gasCosts(engine, 50n);
  const waiting = engine.pay(crowd(1));
  await eventually(() => engine.proxy.counts.get('fault fee-cap')).toBeGreaterThan(1);
  await gasCosts(engine, 1n);
  const before = offered(engine).length;
  await eventually(() => offered(engine).length).toBeGreaterThan(before + 3);
  expect(await engine.ledger.attempts()).toHaveLength(1);
  await eventually(() => engine.alarms()).toContain('transaction_not_taken');
  engine.proxy.heal();
  await paidAtLast(engine);
  await waiting;
  expect(await engine.ledger.attempts()).toHaveLength(1);
  expect(await engine.violations()).toEqual([]);
});

test('a batch has no more rewards than its offer allows', async () => {
  // Some seven rewards at the cap of 100 gwei.
  const offerMaxWei = 3n * 10n ** 16n;
  const engine = await start({ ...impatient, payout: { offerMaxWei } });
  engine.proxy.add({ fault: 'fee-cap', capWei: offerMaxWei });
  await gasCosts(engine, 50n);
  const waiting = engine.pay(crowd(80));
  await eventually(async () => (await engine.ledger.rewards()).length).toBe(80);
  engine.keepMining();
  await engine.drained();
  await waiting;
  expect(engine.proxy.counts.get('fault fee-cap')).toBeUndefined();
  const offers = offered(engine).map(({ gas = 0n, maxFeePerGas = 0n }) => gas * maxFeePerGas);
  expect(offers.filter((wei) => wei > offerMaxWei)).toEqual([]);
  expect(offers.some((wei) => wei > offerMaxWei / 2n)).toBe(true);
  expect(await engine.violations()).toEqual([]);
});

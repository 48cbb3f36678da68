/** What stops a lane, what it says then, and that it goes on by itself. */
import { toHex } from 'viem';
import { afterEach, expect, test, vi } from 'vitest';
import {
  crowd,
  type EngineKit,
  eventually,
  impatient,
  payoutSigner,
  startEngineKit,
} from '../../engine/kit.ts';

let kit: EngineKit | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await kit?.stop();
  kit = undefined;
});

const GWEI = 10n ** 9n;
const CAP = 100n * GWEI;

/** A service whose blocks come when the test says so, and whose callers are answered when their transaction is sent. */
async function onHold(config: Parameters<typeof startEngineKit>[0] = {}): Promise<EngineKit> {
  const engine = await startEngineKit({ blockTimeSeconds: 1, ...config });
  kit = engine;
  await engine.rpc('evm_setIntervalMining', 0);
  return engine;
}

/** Lets blocks come by themselves again, and looks at what came of it all. */
async function paidAtLast(engine: EngineKit, rewards: number): Promise<void> {
  engine.keepMining();
  await engine.drained();
  expect(await engine.violations()).toEqual([]);
  expect((await engine.evidence()).paid).toHaveLength(rewards);
}

test('dropped by the node: offered again, the same bytes', async () => {
  const engine = await onHold({ config: { engine: { lane: { resendAfterMs: 300 } } } });
  const [told] = await engine.pay(crowd(1));
  await engine.rpc('anvil_dropTransaction', told?.hash);
  await eventually(async () => engine.rpc('eth_getTransactionByHash', told?.hash)).toBeTruthy();
  await engine.mine();
  await paidAtLast(engine, 1);
  expect((await engine.ledger.attempts()).map(({ hash }) => hash)).toEqual([told?.hash]);
});

test("dropped while the machine's clock is set back by an hour: offered again as soon as ever", async () => {
  const engine = await onHold({ config: { engine: { lane: { resendAfterMs: 300 } } } });
  const [told] = await engine.pay(crowd(1));
  const machine = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => machine() - 3_600_000);
  await engine.rpc('anvil_dropTransaction', told?.hash);
  await eventually(async () => engine.rpc('eth_getTransactionByHash', told?.hash)).toBeTruthy();
  await engine.mine();
  await paidAtLast(engine, 1);
});

test('known and not moving: replaced by a better offer with the same payload', async () => {
  const engine = await onHold();
  await engine.pay(crowd(2));
  await eventually(async () => (await engine.ledger.attempts()).length).toBeGreaterThan(1);
  await engine.mine();
  await paidAtLast(engine, 2);
});

test('base fee over the cap: nothing above the cap is offered, and what waits is paid afterwards', async () => {
  const engine = await onHold();
  await engine.pay(crowd(1));
  await engine.mine();
  await engine.rpc('anvil_setNextBlockBaseFeePerGas', toHex(2n * CAP));
  await engine.mine();
  const waiting = engine.pay(crowd(3));
  await eventually(() => engine.alarms()).toContain('fee_over_cap');
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect((await engine.evidence()).paid).toHaveLength(1);
  await engine.rpc('anvil_setNextBlockBaseFeePerGas', toHex(GWEI));
  await engine.mine();
  await waiting;
  await engine.mine();
  await paidAtLast(engine, 4);
  expect(engine.alarmsOver()).toContain('fee_over_cap');
  const fees = await Promise.all(
    (await engine.evidence()).lane.map(
      async ({ hash }) => (await engine.node.getTransaction({ hash })).maxFeePerGas,
    ),
  );
  for (const fee of fees) expect(fee).toBeLessThanOrEqual(CAP);
});

test('gas became dearer between storing and sending: a better offer is made, up to the cap', async () => {
  const engine = await onHold();
  engine.proxy.add({ fault: 'lost-request', method: /^eth_sendRawTransaction$/ });
  const waiting = engine.pay(crowd(2));
  await eventually(async () => (await engine.ledger.attempts()).length).toBe(1);
  await engine.rpc('anvil_setNextBlockBaseFeePerGas', toHex(60n * GWEI));
  await engine.mine();
  engine.proxy.heal();
  await waiting;
  await engine.mine();
  await paidAtLast(engine, 2);
});

test('no money for gas: an alarm, and on as soon as there is some', async () => {
  const engine = await onHold();
  await engine.rpc('anvil_setBalance', payoutSigner.address, '0x0');
  const waiting = engine.pay(crowd(3));
  await eventually(() => engine.alarms()).toContain('gas_money_low');
  await engine.rpc('anvil_setBalance', payoutSigner.address, toHex(10n ** 20n));
  expect(await waiting).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }, { kind: 'ok' }]);
  expect(engine.alarmsOver()).toContain('gas_money_low');
  await engine.mine();
  await paidAtLast(engine, 3);
});

test("foreign use of the lane's key while idle: the lane stops with an alarm", async () => {
  const engine = await startEngineKit();
  kit = engine;
  await engine.pay(crowd(2));
  const nonce = await engine.laneNonce();
  await engine.rpc('eth_sendRawTransaction', await engine.signForeign({ nonce }));
  const waiting = engine.pay(crowd(2));
  await eventually(() => engine.alarms()).toContain('foreign_nonce');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const { paid, lane } = await engine.evidence();
  expect(paid).toHaveLength(2);
  expect(lane).toHaveLength(nonce + 1);
  await engine.stop();
  kit = undefined;
  await waiting;
});

test("foreign use of the lane's key under load: an alarm, and everyone is paid once", async () => {
  const finalityBlocks = 4;
  const engine = await onHold({ config: { engine: { ...impatient, follow: { finalityBlocks } } } });
  engine.proxy.add({ fault: 'lost-request', method: /^eth_sendRawTransaction$/ });
  const waiting = engine.pay(crowd(3));
  await eventually(async () => (await engine.ledger.attempts()).length).toBe(1);
  await engine.rpc('eth_sendRawTransaction', await engine.signForeign({ nonce: await engine.laneNonce() }));
  await engine.mine();
  engine.proxy.heal();
  await eventually(() => engine.alarms()).toContain('nonce_lost');
  await engine.mine(finalityBlocks + 1);
  await eventually(async () => (await engine.ledger.attempts()).length).toBeGreaterThan(1);
  engine.keepMining();
  await waiting;
  await engine.drained();
  const { paid } = await engine.evidence();
  expect(new Set(paid.map(({ sequence }) => sequence)).size).toBe(3);
  expect(paid).toHaveLength(3);
});

/** Blocks that the chain takes back, with what they held: whatever happened to it, it is paid exactly once at the end. */
import type { Hex } from 'viem';
import { afterEach, describe, expect, test } from 'vitest';
import { crowd, type EngineKit, eventually, impatient, startEngineKit } from '../../engine/kit.ts';

let kit: EngineKit | undefined;
afterEach(async () => {
  await kit?.stop();
  kit = undefined;
});

/** Depth at which these tests call a block final. */
const finalityBlocks = 8;
const start = (blockTimeSeconds: number) =>
  startEngineKit({ blockTimeSeconds, config: { engine: { ...impatient, follow: { finalityBlocks } } } });

/** Raw bytes of the lane's transactions in the newest blocks, lowest nonce first. */
async function newestRaws({ evidence, rpc }: EngineKit, count: number): Promise<Hex[]> {
  const { lane } = await evidence();
  const newest = lane.sort((a, b) => a.nonce - b.nonce).slice(-count);
  return Promise.all(newest.map(async ({ hash }) => (await rpc('eth_getRawTransactionByHash', hash)) as Hex));
}

const cases = [
  { blockTimeSeconds: 0, depth: 1 },
  { blockTimeSeconds: 0, depth: 2 },
  { blockTimeSeconds: 0, depth: 3 },
  { blockTimeSeconds: 1, depth: 2 },
];

describe.each(cases)('blocks every $blockTimeSeconds s, depth $depth', ({ blockTimeSeconds, depth }) => {
  /** One payout in each of the last blocks, so that the reorganisation takes them all. */
  const paidInEachBlock = async () => {
    const engine = await start(blockTimeSeconds);
    kit = engine;
    for (let n = 0; n < depth; n++) {
      const payouts = (await engine.evidence()).lane.length;
      await engine.pay(crowd(2));
      await eventually(async () => (await engine.evidence()).lane.length).toBeGreaterThan(payouts);
    }
    await engine.drained();
    return engine;
  };

  test('dropped', async () => {
    const engine = await paidInEachBlock();
    await engine.rpc('anvil_reorg', depth, []);
    await engine.pay(crowd(2));
    await engine.drained();
    expect(await engine.violations()).toEqual([]);
    expect((await engine.evidence()).paid).toHaveLength(2 * depth + 2);
  });

  test('included again by the new blocks', async () => {
    const engine = await paidInEachBlock();
    const raws = await newestRaws(engine, depth);
    await engine.rpc(
      'anvil_reorg',
      depth,
      raws.map((raw) => [raw, 0]),
    );
    await engine.pay(crowd(2));
    await engine.drained();
    expect(await engine.violations()).toEqual([]);
    expect((await engine.evidence()).paid).toHaveLength(2 * depth + 2);
  });
});

test('somebody else has the nonce in the new block: paid under another one, once that is final', async () => {
  const engine = await start(0);
  kit = engine;
  // One: several may be spread over several transactions.
  await engine.pay(crowd(1));
  await engine.drained();
  const nonce = (await engine.laneNonce()) - 1;
  const competing = await engine.signForeign({ nonce });
  await engine.rpc('anvil_reorg', 1, [[competing, 0]]);
  await eventually(() => engine.alarms()).toContain('nonce_lost');
  expect((await engine.evidence()).paid).toEqual([]);
  await engine.mine(finalityBlocks + 1);
  await engine.drained();
  const { paid, lane } = await engine.evidence();
  expect(paid).toHaveLength(1);
  expect(lane.map((one) => one.nonce)).toEqual([nonce, nonce + 1]);
  await eventually(() => engine.alarmsOver()).toContain('nonce_lost');
});

test('again and again', async () => {
  const engine = await start(0);
  kit = engine;
  for (let round = 0; round < 8; round++) {
    await engine.pay(crowd(3));
    await engine.rpc('anvil_reorg', 1 + (round % 3), []);
  }
  await engine.drained();
  expect(await engine.violations()).toEqual([]);
  expect((await engine.evidence()).paid).toHaveLength(24);
});

/** A node that loses, doubles, garbles and forgets: whatever it does, an event is paid exactly once. */
import { afterEach, expect, test } from 'vitest';
import { crowd, type EngineKit, startEngineKit } from '../../engine/kit.ts';
import { type RpcFault, rpcFaults } from '../../kits/chain/rpc-proxy.ts';

/** REWARDS_LOSSY_ROUNDS for a longer look. */
const ROUNDS = Number(process.env.REWARDS_LOSSY_ROUNDS ?? 4);
const TOGETHER = 10;
let kit: EngineKit | undefined;
afterEach(async () => {
  await kit?.stop();
  kit = undefined;
});

async function payInRounds(engine: EngineKit): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) await engine.pay(crowd(TOGETHER));
  engine.proxy.heal();
  await engine.drained();
  expect(await engine.violations()).toEqual([]);
  const rewards = await engine.ledger.rewards();
  expect(rewards).toHaveLength(ROUNDS * TOGETHER);
  expect(rewards.filter(({ failure }) => failure !== null)).toEqual([]);
  expect(engine.calls.filter(({ kind }) => kind === 'refused')).toEqual([]);
}

async function payThrough(fault: RpcFault, blockTimeSeconds: number): Promise<void> {
  kit = await startEngineKit({ blockTimeSeconds, seed: 7 });
  kit.proxy.add({ fault, probability: 0.1 });
  // Sends are few, since rewards go together: they get their share on top.
  kit.proxy.add({ fault, probability: 0.3, method: /^eth_sendRawTransaction$/ });
  await payInRounds(kit);
  const faults = kit.proxy.counts.get(`fault ${fault}`) ?? 0;
  expect(faults).toBeGreaterThan(2);
  if (process.env.REWARDS_LOSSY_ROUNDS) {
    const { paid } = await kit.evidence();
    process.stdout.write(`${fault}: ${faults} calls, ${paid.length} rewards paid once\n`);
  }
}

/** Those that strike any call, whatever is asked and offered. */
const faults = rpcFaults.filter((fault) => fault !== 'fee-cap' && fault !== 'no-old-state');

/** A call that is lost costs its caller a second at times. */
const timeout = 30_000 + ROUNDS * 4_000;
test.each(faults)('%s for one call in ten, a block for each transaction', { timeout }, (fault) =>
  payThrough(fault, 0),
);
test.each(['lost-answer', 'stale'] as const)(
  '%s for one call in ten, a block a second',
  { timeout },
  (fault) => payThrough(fault, 1),
);

test.each([0, 1])('everything at once, blocks every %i s', async (blockTimeSeconds) => {
  kit = await startEngineKit({ blockTimeSeconds, seed: 11 });
  for (const fault of faults) kit.proxy.add({ fault, probability: 0.03 });
  await payInRounds(kit);
});

test('receipts that come later than their block are waited for', async () => {
  kit = await startEngineKit({ config: { engine: {} } });
  kit.proxy.add({ fault: 'stale', method: /^eth_getBlockReceipts$/, behindBlocks: 0, times: 3 });
  expect(await kit.pay(crowd(3))).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }, { kind: 'ok' }]);
  await kit.drained();
  expect(await kit.violations()).toEqual([]);
});

test('a node that is behind takes nothing back', async () => {
  kit = await startEngineKit();
  const { brand, ledger } = kit;
  await kit.pay(crowd(2));
  const before = await ledger.funds(brand.brandId);
  kit.proxy.add({ fault: 'stale', behindBlocks: 3 });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await ledger.funds(brand.brandId)).toEqual(before);
  kit.proxy.heal();
  expect(kit.logged.filter(({ message }) => message.includes('reorganised'))).toEqual([]);
  await kit.drained();
});

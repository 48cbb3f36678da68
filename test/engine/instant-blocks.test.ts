/** Where blocks come at once: rewards that are decided while a block is on its way share the next one. */
import { afterEach, expect, test } from 'vitest';
import { crowd, type EngineKit, eventually, impatient, startEngineKit } from './kit.ts';

let kit: EngineKit | undefined;
afterEach(async () => {
  await kit?.stop();
  kit = undefined;
});

/** No batch is offered for more while its block is held back, however slow the machine is. */
const lane = { ...impatient.lane, bumpAfterMs: 600_000 };
const hashesOf = (calls: Awaited<ReturnType<EngineKit['pay']>>) =>
  new Set(calls.map((call) => ('hash' in call ? call.hash : call.kind)));

test('rewards decided one by one while the block of the batch before is not booked share a transaction', async () => {
  const payout = { blockWaitMs: 60_000 };
  const engine = await startEngineKit({ config: { engine: { lane, payout } } });
  kit = engine;
  await engine.rpc('evm_setAutomine', false);
  const first = engine.pay(crowd(1));
  await eventually(async () => (await engine.ledger.attempts()).length).toBe(1);
  const later: ReturnType<EngineKit['pay']>[] = [];
  for (const count of [2, 3, 4]) {
    later.push(engine.pay(crowd(1)));
    await eventually(async () => (await engine.ledger.rewards()).length).toBe(count);
  }
  expect(await engine.ledger.attempts()).toHaveLength(1);

  await engine.rpc('evm_setAutomine', true);
  await engine.mine();
  const [one, ...others] = await Promise.all([first, ...later]);
  expect(hashesOf(one).size).toBe(1);
  expect(hashesOf(others.flat()).size).toBe(1);
  expect(await engine.ledger.attempts()).toHaveLength(2);
  expect(await engine.violations()).toEqual([]);
});

test('a block that does not come holds up the next batch for a moment only', async () => {
  const payout = { blockWaitMs: 50, idlePollMs: 20 };
  const engine = await startEngineKit({ config: { engine: { lane, payout } } });
  kit = engine;
  await engine.rpc('evm_setAutomine', false);
  const waiting = [engine.pay(crowd(1))];
  await eventually(async () => (await engine.ledger.attempts()).length).toBe(1);
  waiting.push(engine.pay(crowd(1)));
  await eventually(async () => (await engine.ledger.attempts()).length).toBe(2);
  engine.keepMining();
  await engine.drained();
  expect(hashesOf((await Promise.all(waiting)).flat()).size).toBe(2);
  expect(await engine.violations()).toEqual([]);
});

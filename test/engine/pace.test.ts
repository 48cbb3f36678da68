/** How a lane spreads what it may have in flight over the time between two blocks. */
import { expect, test } from 'vitest';
import { createPace } from '../../src/chain/lane/pace.ts';
import type { Block, ChainClient } from '../../src/chain/rpc/client.ts';

const START_MS = 1_700_000_000_000;

/** A chain with a block every `seconds`, and a lane with sixteen places that looks at it. */
async function start(seconds: number) {
  let now = START_MS;
  let number = 100;
  const block = async () => ({ number, timestampSeconds: number * seconds }) as Block;
  const pace = createPace({
    chain: { block } as unknown as ChainClient,
    inFlightMax: 16,
    nowMs: () => now,
  });
  return {
    pace,
    later: (ms: number) => {
      now += ms;
    },
    newBlock: async (count = 1) => {
      number += count;
      await pace.chain.block('latest');
    },
    look: () => pace.chain.block('latest'),
    /** Sends as soon as the pace allows it; the moments at which it did, until `ms` have passed. */
    sends: (ms: number) => {
      const sentAt: number[] = [];
      for (const until = now + ms; now < until; now += 1) {
        if (pace.waitMs() > 0) continue;
        pace.stored();
        sentAt.push(now);
      }
      return sentAt.map((at) => at - (now - ms));
    },
  };
}

test('nothing waits while it is not known how often there are blocks', async () => {
  const { pace, look } = await start(2);
  await look();
  for (let sent = 0; sent < 20; sent++) {
    expect(pace.waitMs()).toBe(0);
    pace.stored();
  }
});

test('a quarter of the places is used at once, the others until the next block', async () => {
  const { sends, look, newBlock } = await start(2);
  await look();
  await newBlock();
  const sentAt = sends(2_000);
  expect(sentAt.slice(0, 4)).toEqual([0, 1, 2, 3]);
  const pauses = sentAt.slice(4).map((at, place) => at - (sentAt[place + 3] ?? 0));
  expect(sentAt).toHaveLength(16);
  for (const pause of pauses) expect(Math.abs(pause - 2_000 / 13)).toBeLessThan(5);
  await newBlock();
  expect(sends(10).slice(0, 4)).toEqual([0, 1, 2, 3]);
});

test('a block that is late leaves the lane the places that it has', async () => {
  const { pace, later, look, newBlock } = await start(1);
  await look();
  await newBlock(3);
  for (let sent = 0; sent < 10; sent++) pace.stored();
  expect(pace.waitMs()).toBeGreaterThan(0);
  later(1_000);
  expect(pace.waitMs()).toBe(0);
});

test('a chain whose clock leaps by days makes nothing wait for longer than a quarter of a second', async () => {
  const { pace, look, newBlock } = await start(86_400);
  await look();
  await newBlock();
  for (let sent = 0; sent < 15; sent++) pace.stored();
  expect(pace.waitMs()).toBe(250);
});

test('a clock that was set back makes nothing wait', async () => {
  const { pace, later, look, newBlock } = await start(1);
  await look();
  await newBlock();
  for (let sent = 0; sent < 8; sent++) pace.stored();
  later(-3_600_000);
  expect(pace.waitMs()).toBe(0);
});

test('blocks that come within a second, and a chain that was reorganised, make nothing wait', async () => {
  const { pace, look, newBlock } = await start(0);
  await look();
  await newBlock();
  for (let sent = 0; sent < 15; sent++) pace.stored();
  expect(pace.waitMs()).toBe(0);
  const reorganised = await start(1);
  await reorganised.look();
  await reorganised.newBlock();
  await reorganised.newBlock(-1);
  for (let sent = 0; sent < 15; sent++) reorganised.pace.stored();
  expect(reorganised.pace.waitMs()).toBe(0);
});

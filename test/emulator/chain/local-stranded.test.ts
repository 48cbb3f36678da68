/** Transactions that Anvil keeps waiting for an earlier one that is in a block already. */
import { rmSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { until } from '../../kits/service/clock.ts';
import { ALICE, startHere, tempDir } from './local-chain-support.ts';

const dir = tempDir();
let host: Awaited<ReturnType<typeof startHere>> | undefined;
afterEach(async () => {
  await host?.stop();
  host = undefined;
  rmSync(dir, { recursive: true, force: true });
});

test.each([true, false])('come into blocks all the same, in their order (journal: %s)', async (journal) => {
  host = await startHere({ dir, journal });
  const { call, send, receipt } = host.rpc;
  const nonceOf = async () => Number(await call('eth_getTransactionCount', ALICE, 'latest'));
  // They wait for the transaction with nonce 0; the nonce moves on without it, as if its block had come between.
  const second = await send({ nonce: '0x1' });
  const third = await send({ nonce: '0x2' });
  const beforeItsTime = await send({ nonce: '0x4' });
  await call('anvil_setNonce', ALICE, '0x1');
  await until('both are in blocks', async () => (await nonceOf()) === 3);
  const [first, next] = [await receipt(second), await receipt(third)];
  expect([first.status, next.status]).toEqual(['0x1', '0x1']);
  expect(Number(next.blockNumber)).toBeGreaterThan(Number(first.blockNumber));
  const { queued } = await call<{ queued: Record<string, object> }>('txpool_content');
  expect(Object.values(queued).flatMap(Object.keys)).toEqual(['4']);
  expect(beforeItsTime).toMatch(/^0x/);
  expect(host.logs.filter(({ level }) => level === 'warn')).toEqual([]);
});

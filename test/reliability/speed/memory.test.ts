/** What a process keeps while it lives has a limit, however much passes through it. */
import { expect, test } from 'vitest';
import { createRewardWaiters } from '../../../src/chain/waiting/reward-waiters.ts';
import { createRequestLog } from '../../../src/emulator/control/request-log.ts';
import { openSqlite } from '../../../src/ledger/database/sqlite.ts';
import { silentLog } from '../../../src/lib/log.ts';

test('the request log counts what callers send in paths, queries and events, not bodies alone', () => {
  const log = createRequestLog<{ id: string; search: string; traces: unknown[] }>({
    entriesMax: 2_000,
    bytesMax: 1_000_000,
  });
  const search = `?${'x'.repeat(15_999)}`;
  for (let sent = 0; sent < 5_000; sent++) log.add({ id: `req_${sent}`, search, traces: [] });
  // 16,000 characters of two bytes, and 1,024 for the rest.
  expect(log.list({ keep: () => true, limit: 5_000 })).toHaveLength(30);
  const traces = Array.from({ length: 100 }, () => ({}));
  for (let sent = 0; sent < 100; sent++) log.add({ id: `bulk_${sent}`, search: '', traces });
  expect(log.list({ keep: () => true, limit: 5_000 })).toHaveLength(2);
});

test('transactions that no block is reported for are forgotten, the oldest first', async () => {
  const database = openSqlite(':memory:');
  // It is not asked in this test: the interval is longer than any.
  const board = createRewardWaiters({ database, log: silentLog, pollMs: 1_000_000 });
  const waiting = board.waitFor({ rewardId: 'r', until: 'sent', timeoutMs: 60_000 });
  const hashOf = (place: number) => `0x${place.toString(16).padStart(64, '0')}` as const;
  for (let place = 0; place < 5_000; place++)
    board.carried({ id: `t${place}`, hash: hashOf(place), rewardIds: ['r'] });
  board.sent({ id: 't0' });
  board.sent({ id: 't3999' });
  board.sent({ id: 't4000' });
  expect((await waiting)?.hash).toBe(hashOf(4_000));
  board.stop();
  await database.close();
});

/** Which states `undo` goes back to, on a store of its own, where requests come at the worst moments. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createUndoPoints, type UndoPoints } from '../../../src/emulator/snapshots/undo-points.ts';
import { LEDGER } from '../../../src/emulator/state/data-files.ts';
import { settled } from '../../kits/service/clock.ts';

const EVENT = '/rewards-api/manual-event';
let dataDir: string;
let store: SQLite.Database;
let flush: () => Promise<void>;
let undo: UndoPoints;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'rewards-undo-'));
  store = new SQLite(join(dataDir, LEDGER));
  store.pragma('journal_mode = WAL');
  store.exec(`create table journal_blocks (number, hash, timestamp_seconds);
    insert into journal_blocks values (0, '0x00', 1); create table notes (text)`);
  flush = async () => {};
  const node = { flush: () => flush(), save: async () => {}, head: async () => ({ hash: '0x00' }) };
  const clock = { state: () => ({ nowMs: 1, frozen: false, offsetMs: 0 }) };
  const running = () =>
    ({ dataDir, node, clock }) as unknown as ReturnType<Parameters<typeof createUndoPoints>[0]>;
  undo = createUndoPoints(running, { now: () => 1 });
});
afterEach(() => {
  store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** A request that adds this note, or is refused. */
async function note(text: string, status = 200) {
  await undo.before('POST', EVENT);
  if (status === 200) store.prepare('insert into notes values (?)').run(text);
  undo.after('POST', EVENT, new Response(null, { status, headers: { 'x-request-id': text } }));
}
function last() {
  const point = undo.last();
  if (!point) return undefined;
  const image = new SQLite(point.ledger);
  const notes = image.prepare('select text from notes').pluck().all();
  image.close();
  return { notes, undone: point.changes.map(({ id, path }) => id ?? path) };
}

test('each change has the state before it; refused requests have none', async () => {
  await note('a');
  await note('refused', 429);
  await note('b');
  await note('c');
  await note('refused', 429);
  expect(last()).toEqual({ notes: ['a', 'b'], undone: ['c'] });
  undo.last()?.undone();
  expect(last()).toEqual({ notes: ['a'], undone: ['b'] });
  undo.last()?.undone();
  expect(last()).toEqual({ notes: [], undone: ['a'] });
  undo.last()?.undone();
  expect(last()).toBeUndefined();
});

test('what came while the stack went back is gone with what was undone', async () => {
  await note('a');
  await note('b');
  const point = undo.last();
  await note('late');
  point?.undone();
  expect(last()).toEqual({ notes: [], undone: ['a'] });
  await note('c');
  expect(last()?.undone).toEqual(['c']);
});

test('a state whose replacement did not open was never replaced', async () => {
  await note('a');
  await undo.beforeReplacing('/_rewards/restore');
  expect(last()).toEqual({ notes: [], undone: ['a'] });
  (await undo.beforeReplacing('/_rewards/restore'))();
  expect(last()).toEqual({ notes: ['a'], undone: ['/_rewards/restore'] });
});

test('a look at the stack that fails late forgets nothing that was kept since', async () => {
  let fail = (_: Error) => {};
  flush = () =>
    new Promise((_, reject) => {
      fail = reject;
    });
  await note('a');
  flush = async () => {};
  (await undo.beforeReplacing('/_rewards/reset'))();
  fail(new Error('the node is away'));
  await settled();
  expect(last()).toEqual({ notes: ['a'], undone: ['/_rewards/reset'] });
});

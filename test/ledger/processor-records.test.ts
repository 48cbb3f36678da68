/** The records of the emulated payment processor: in what order they come, what is due, and what an id can be. */
import { beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { emulatorMigrations } from '../../src/ledger/emulator/migrations.ts';
import {
  deleteObject,
  dueDeliveries,
  dueObjects,
  emulatedDeliveries,
  emulatedObjects,
  endDeliveries,
  findDelivery,
  findKeptAnswer,
  findObject,
  insertDelivery,
  insertObject,
  keepAnswerUnderKey,
  listDeliveries,
  listObjects,
  lockRecords,
  nextDueMs,
  updateDelivery,
  updateObject,
} from '../../src/ledger/emulator/processor.ts';
import { freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

onEveryDatabase(({ kit }) => {
  beforeAll(() => migrate(kit().database, emulatorMigrations));
  const db = () => kit().database.db;
  const clear = async () => {
    await db().delete(emulatedDeliveries);
    await db().delete(emulatedObjects);
  };
  const add = async (more: { kind?: string; about?: string; createdAt?: number; dueAt?: number } = {}) => {
    const id = freshKey('obj');
    const { kind = 'payment', about = null, createdAt = 0, dueAt = null } = more;
    await kit().database.atomically(async (tx) => {
      await lockRecords(tx);
      await insertObject(tx, { id, kind, about, createdAt, dueAt, body: { id }, notes: {} } as never);
    });
    return id;
  };
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

  test('objects come newest first, and those after one in the order that follows it most closely', async () => {
    await clear();
    const [a, b, c] = [await add({ createdAt: 5 }), await add({ createdAt: 7 }), await add({ createdAt: 9 })];
    const other = await add({ kind: 'refund', about: a, createdAt: 7 });
    const list = async (of: Partial<Parameters<typeof listObjects>[1]>) =>
      ids(await listObjects(db(), { kind: 'payment', limit: 10, ...of }));
    expect(await list({})).toEqual([c, b, a]);
    expect(await list({ limit: 2 })).toEqual([c, b]);
    const numbers = (await listObjects(db(), { kind: 'payment', limit: 10 })).map(({ number }) => number);
    const [numberOfC = 0, numberOfB = 0, numberOfA = 0] = numbers;
    expect([numberOfB - numberOfA, numberOfC - numberOfB]).toEqual([1, 1]);
    expect(await list({ beforeNumber: numberOfC })).toEqual([b, a]);
    expect(await list({ afterNumber: numberOfA })).toEqual([c, b]);
    expect(await list({ afterNumber: numberOfA, limit: 1 })).toEqual([b]);
    expect(await list({ createdFromMs: 7 })).toEqual([c, b]);
    expect(await list({ createdToMs: 7 })).toEqual([b, a]);
    expect(await list({ kind: 'refund' })).toEqual([other]);
    expect(await list({ kind: 'refund', about: a })).toEqual([other]);
    expect(await list({ kind: 'refund', about: b })).toEqual([]);
    expect(await list({ kind: 'refund', about: 'no id\0' })).toEqual([]);
  });

  test('an object is found, changed and deleted by its id; what cannot be an id names none', async () => {
    await clear();
    const [one, other] = [await add(), await add()];
    expect(await findObject(db(), one)).toMatchObject({ id: one, kind: 'payment', about: null });
    await updateObject(db(), { id: one, about: 'changed', dueAt: 3 });
    expect(await findObject(db(), one)).toMatchObject({ about: 'changed', dueAt: 3, body: { id: one } });
    expect(await findObject(db(), other)).toMatchObject({ about: null, dueAt: null });
    for (const id of ['', 'x y', `${one}\0`, `\0${one}`, `-${one}`, 'x'.repeat(256), 'nobody'])
      expect(await findObject(db(), id)).toBeUndefined();
    await deleteObject(db(), one);
    expect(await findObject(db(), one)).toBeUndefined();
    expect(await findObject(db(), other)).toBeDefined();
  });

  test('what is due comes in its order, and the next time is the earliest of objects and deliveries', async () => {
    await clear();
    expect(await nextDueMs(db())).toBeUndefined();
    const [late, early, alsoEarly] = [
      await add({ dueAt: 9 }),
      await add({ dueAt: 5 }),
      await add({ dueAt: 5 }),
    ];
    await add();
    const due = async (nowMs: number, limit = 10) => ids(await dueObjects(db(), { nowMs, limit }));
    expect(await due(4)).toEqual([]);
    expect(await due(5)).toEqual([early, alsoEarly]);
    expect(await due(9)).toEqual([early, alsoEarly, late]);
    expect(await due(9, 1)).toEqual([early]);
    expect(await nextDueMs(db())).toBe(5);
    const delivery = { eventId: 'evt_1', endpointId: 'we_1' };
    await insertDelivery(db(), { ...delivery, id: freshKey('del'), createdAt: 3 });
    expect(await nextDueMs(db())).toBe(3);
    await insertDelivery(db(), { ...delivery, id: freshKey('del'), createdAt: 2 });
    expect(await nextDueMs(db())).toBe(2);
    await db().delete(emulatedObjects);
    expect(await nextDueMs(db())).toBe(2);
  });

  test('deliveries wait from the first on, come longest overdue first to their endpoint, and end together', async () => {
    await clear();
    const send = async (eventId: string, endpointId: string, createdAt: number) => {
      const id = freshKey('del');
      await insertDelivery(db(), { id, eventId, endpointId, createdAt });
      return id;
    };
    const [late, early] = [await send('evt_1', 'we_1', 8), await send('evt_2', 'we_1', 4)];
    const other = await send('evt_1', 'we_2', 4);
    expect(await findDelivery(db(), early)).toMatchObject({
      id: early,
      eventId: 'evt_2',
      endpointId: 'we_1',
      state: 'waiting',
      nextAt: 4,
      attempts: [],
    });
    expect(await findDelivery(db(), 'nobody')).toBeUndefined();
    const due = async (nowMs: number, limit = 10) =>
      ids(await dueDeliveries(db(), { endpointId: 'we_1', nowMs, limit }));
    expect(await due(3)).toEqual([]);
    expect(await due(4)).toEqual([early]);
    expect(await due(8)).toEqual([early, late]);
    expect(await due(8, 1)).toEqual([early]);
    const list = async (of: Parameters<typeof listDeliveries>[1]) => ids(await listDeliveries(db(), of));
    expect(await list({})).toEqual([other, early, late]);
    expect(await list({ limit: 1 })).toEqual([other]);
    expect(await list({ endpointId: 'we_1' })).toEqual([early, late]);
    expect(await list({ eventIds: ['evt_1'] })).toEqual([other, late]);
    expect(await list({ eventIds: ['evt_1', 'evt_2'], endpointId: 'we_1' })).toEqual([early, late]);
    expect(await list({ eventIds: ['no id\0'] })).toEqual([]);
    expect(await list({ endpointId: 'no id\0' })).toEqual([]);
    await updateDelivery(db(), { id: early, state: 'delivered', nextAt: null, attempts: [] });
    expect(await list({ state: 'waiting' })).toEqual([other, late]);
    expect(await due(8)).toEqual([late]);
    await endDeliveries(db(), 'we_1');
    expect(await findDelivery(db(), late)).toMatchObject({ state: 'failed', nextAt: null });
    expect(await findDelivery(db(), early)).toMatchObject({ state: 'delivered' });
    expect(await findDelivery(db(), other)).toMatchObject({ state: 'waiting', nextAt: 4 });
  });

  test('an answer is kept under its key until it is old', async () => {
    const key = freshKey('key');
    const answer = {
      key,
      createdAt: 5,
      digest: 'of a request',
      requestId: 'req_1',
      status: 200,
      answer: '{}',
    };
    const keep = (one: Partial<typeof answer>, forgetBeforeMs: number) =>
      keepAnswerUnderKey(db(), { ...answer, ...one } as never, forgetBeforeMs);
    await keep({}, 0);
    expect(await findKeptAnswer(db(), key)).toMatchObject({ key });
    expect(await findKeptAnswer(db(), 'another')).toBeUndefined();
    await keep({ key: freshKey('key') }, 5);
    expect(await findKeptAnswer(db(), key)).toBeDefined();
    await keep({ key: freshKey('key') }, 6);
    expect(await findKeptAnswer(db(), key)).toBeUndefined();
  });
});

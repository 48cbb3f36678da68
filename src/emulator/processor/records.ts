/** The emulated processor's records as its parts use them: reads at any time, changes one after the other. */
import type { Database, Queries } from '../../ledger/database/database.ts';
import {
  deleteObject,
  type EmulatedObject,
  findObject,
  insertDelivery,
  insertObject,
  listObjects,
  lockRecords,
  updateObject,
} from '../../ledger/emulator/processor.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import { createMutex } from '../../lib/mutex.ts';
import { noSuchObject } from './stripe-error.ts';

/** What every object of the API has. */
export interface StripeObject {
  id: string;
  object: string;
  created: number;
}

/** An object with what only the emulator knows of it. */
export interface Entry<Body extends StripeObject = StripeObject, Notes = Record<string, unknown>> {
  body: Body;
  notes: Notes;
  about: string | null;
  dueAt: number | null;
}

export interface RecordsDeps {
  database: Database;
  clock: Clock;
  random: Random;
}

/** Within one change: everything commits together. */
export type Change = ReturnType<typeof changeOf>;
export type Records = ReturnType<typeof createRecords>;

const entryOf = <Body extends StripeObject, Notes>({ body, notes, about, dueAt }: EmulatedObject) =>
  ({ body, notes, about, dueAt }) as unknown as Entry<Body, Notes>;

const recordOf = (value: object) => ({ ...value }) as Record<string, unknown>;

/** Of the queries given: undefined when there is no such object, or one of another kind. */
async function find<Body extends StripeObject, Notes = Record<string, unknown>>(
  db: Queries,
  kind: Body['object'],
  id: string,
): Promise<Entry<Body, Notes> | undefined> {
  const row = await findObject(db, id);
  return row?.kind === kind ? entryOf<Body, Notes>(row) : undefined;
}

function changeOf(deps: RecordsDeps, tx: Queries) {
  const nowMs = deps.clock.now();
  return {
    nowMs,
    /** Seconds, as the API tells times. */
    now: Math.floor(nowMs / 1_000),
    queries: tx,
    newId: (prefix: string, length = 24) => `${prefix}${randomWord(deps.random, length)}`,
    find: <Body extends StripeObject, Notes = Record<string, unknown>>(kind: Body['object'], id: string) =>
      find<Body, Notes>(tx, kind, id),
    async need<Body extends StripeObject, Notes = Record<string, unknown>>(
      kind: Body['object'],
      id: string,
      param?: string,
    ): Promise<Entry<Body, Notes>> {
      const entry = await find<Body, Notes>(tx, kind, id);
      if (!entry) throw noSuchObject(kind, id, param);
      return entry;
    },
    /** Objects of a kind that belong to a payment intent, newest first. */
    belongingTo: async <Body extends StripeObject>(kind: Body['object'], about: string) =>
      (await listObjects(tx, { kind, about, limit: 100 })).map((row) => entryOf<Body, unknown>(row)),
    all: async <Body extends StripeObject, Notes = Record<string, unknown>>(kind: Body['object']) =>
      (await listObjects(tx, { kind, limit: 1_000 })).map((row) => entryOf<Body, Notes>(row)),
    add: ({
      body,
      notes = {},
      about = null,
      dueAt = null,
    }: { body: StripeObject } & Partial<Entry<StripeObject, object>>) =>
      insertObject(tx, {
        id: body.id,
        kind: body.object,
        createdAt: nowMs,
        about,
        dueAt,
        body: recordOf(body),
        notes: recordOf(notes),
      }),
    /** Stores the object as it is now. */
    store: ({ body, notes, about, dueAt }: Entry<StripeObject, unknown>) =>
      updateObject(tx, {
        id: body.id,
        about,
        dueAt,
        body: recordOf(body),
        notes: recordOf((notes ?? {}) as object),
      }),
    remove: (id: string) => deleteObject(tx, id),
    send: (delivery: { eventId: string; endpointId: string }) =>
      insertDelivery(tx, { ...delivery, id: `dlv_${randomWord(deps.random, 24)}`, createdAt: nowMs }),
  };
}

/** One process writes these records, so a mutex is what keeps one change from another. */
export function createRecords(deps: RecordsDeps) {
  const { database } = deps;
  const inTurn = createMutex();
  return {
    nowMs: () => deps.clock.now(),
    newId: (prefix: string, length = 24) => `${prefix}${randomWord(deps.random, length)}`,
    db: database.db,
    change: <T>(work: (change: Change) => Promise<T>): Promise<T> =>
      inTurn(() =>
        database.atomically(async (tx) => {
          await lockRecords(tx);
          return work(changeOf(deps, tx));
        }),
      ),
    find: <Body extends StripeObject, Notes = Record<string, unknown>>(kind: Body['object'], id: string) =>
      find<Body, Notes>(database.db, kind, id),
  };
}

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** `length` letters and digits. */
const randomWord = (random: Random, length: number) =>
  // 62 does not divide 256; an identifier need not be free of that bias.
  [...random.bytes(length)].map((byte) => LETTERS[byte % LETTERS.length]).join('');

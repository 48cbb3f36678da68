/** What the reconciler asks the processor, when, and what it leaves in the ledger: with a processor that answers what a test says. */
import { expect, onTestFinished, test } from 'vitest';
import { createReconciler, type ReconcileSettings } from '../../src/actions/payments/create-payments.ts';
import { findPlannedCheckout } from '../../src/ledger/payments/checkout-sessions.ts';
import { claimLooks, planNextLook } from '../../src/ledger/payments/due-looks.ts';
import { readMint } from '../../src/ledger/payments/mints.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import type { LogFields } from '../../src/lib/log.ts';
import { stopwatch, turnOfEventLoop } from '../../src/lib/timers.ts';
import {
  type PaymentProcessor,
  type ProcessorEvent,
  ProcessorFailure,
  type ProcessorSession,
} from '../../src/payments/processor.ts';
import { freshKey } from '../kits/databases/databases.ts';
import { openLedger } from './ledger.ts';
import { DAY_MS, NOW, paidSession } from './paid-sessions.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const usual: Omit<ReconcileSettings, 'pollMs'> = {
  lookPauses: [
    { untilAgeMs: 10 * MINUTE_MS, everyMs: MINUTE_MS },
    { untilAgeMs: HOUR_MS, everyMs: 5 * MINUTE_MS },
    { untilAgeMs: DAY_MS, everyMs: HOUR_MS },
  ],
  lateLookEveryMs: HOUR_MS,
  lateLooksMs: 14 * DAY_MS,
  looksAtOnce: 8,
  looksPerSecond: 1_000_000,
  awayLookEveryMs: 1,
  lookClaimMs: 2 * MINUTE_MS,
  firstLookMs: MINUTE_MS,
  eventsEveryMs: 2 * MINUTE_MS,
  eventsBackMs: 2 * DAY_MS,
  eventsOverlapMs: HOUR_MS,
  skewMs: 7_000,
};

/** A reconciler on a ledger of its own. `world` is what the processor has; `asked` what it was asked, in order. */
async function start(change: Partial<ReconcileSettings> = {}) {
  const ledger = await openLedger();
  const { database, clock } = ledger;
  const world = {
    sessions: [] as ProcessorSession[],
    events: [] as ProcessorEvent[],
    onFind: (_: string): void | Promise<void> => {},
    onReceive: (_: ProcessorEvent): void => {},
  };
  const [asked, received, told]: [unknown[], string[], unknown[]] = [[], [], []];
  const counts = { nudges: 0, listed: 0 };
  const processor = {
    async findSession(id: string) {
      asked.push(id);
      await world.onFind(id);
      return world.sessions.find((one) => one.id === id);
    },
    async *sessionsSince(ms: number) {
      asked.push({ sessionsSince: ms });
      for (const session of world.sessions) {
        counts.listed += 1;
        yield session;
      }
    },
    async *eventsSince(ms: number) {
      asked.push({ eventsSince: ms });
      yield* world.events;
    },
  } as unknown as PaymentProcessor;
  const keep = (fields: LogFields, message: string) => void told.push({ ...fields, message });
  let [isStarted, polls] = [false, 0];
  const settings = {
    ...usual,
    ...change,
    answerTimeoutMs: 0,
    unattachedMs: DAY_MS,
    // Without a nudge nothing is looked at again; that this was asked says that a loop has nothing more to do.
    get pollMs() {
      polls += 1;
      return DAY_MS;
    },
  };
  const loop = createReconciler({
    database,
    clock,
    processor,
    settings,
    crash: neverCrash,
    businessTime: ledger.businessTime,
    realClock: systemClock(),
    log: { debug: keep, info: keep, warn: keep, error: keep },
    mints: { nudge: () => void counts.nudges++ },
    async receive(event) {
      world.onReceive(event);
      received.push(event.id);
    },
  });
  onTestFinished(async () => {
    await loop.stop();
    await ledger.close();
  });
  /** Does what is due now; returns what the processor was asked meanwhile. */
  const turn = async () => {
    const before = asked.length;
    if (isStarted) loop.nudge();
    else loop.start();
    isStarted = true;
    // The ledger is in memory and the processor answers at once: what goes on shows within a few turns of the thread.
    let quietMs = stopwatch();
    for (let [quiet, seen] = [0, '']; quiet < 200 || quietMs() < 10; quiet += 1) {
      await turnOfEventLoop();
      const now = `${asked.length} ${polls} ${counts.listed}`;
      if (now === seen) continue;
      [quiet, seen] = [0, now];
      quietMs = stopwatch();
    }
    return asked.slice(before);
  };
  const checkout = async ({ checkoutId }: ProcessorSession) =>
    findPlannedCheckout(database.db, checkoutId ?? '');
  return {
    world,
    asked,
    received,
    told,
    counts,
    loop,
    turn,
    checkout,
    database,
    clock,
    /** A session that nobody has paid; `isNoted: false`: our process ended before it knew of it. */
    async openSession(of: Parameters<typeof paidSession>[1] = {}): Promise<ProcessorSession> {
      const paid = await paidSession(database, of);
      const session: ProcessorSession = { ...paid, status: 'open', paymentStatus: 'unpaid' };
      world.sessions.push(session);
      return session;
    },
    async paidSession(of: Parameters<typeof paidSession>[1] = {}): Promise<ProcessorSession> {
      const session = await paidSession(database, of);
      world.sessions.push(session);
      return session;
    },
    /** Without looks at events. */
    async looks() {
      const of = await turn();
      return of.filter((one) => typeof one === 'string' || !Object.hasOwn(one as object, 'eventsSince'));
    },
  };
}

test('before the first checkout the processor is asked nothing', async () => {
  const { turn, clock, paidSession: pay } = await start();
  expect(await turn()).toEqual([]);
  clock.advance(DAY_MS);
  expect(await turn()).toEqual([]);
  const { id } = await pay();
  const first = await turn();
  expect(first).toHaveLength(2);
  expect(first).toEqual(expect.arrayContaining([id, { eventsSince: NOW - DAY_MS }]));
});

test('a session that is paid gets its mint, and is not looked at again', async () => {
  const { looks, clock, counts, database, checkout, paidSession: pay, told } = await start();
  const session = await pay();
  expect(await looks()).toEqual([session.id]);
  expect((await readMint(database.db, session.id))?.mint).toMatchObject({
    rwtAmount: 25_000,
    createdAt: NOW,
  });
  expect(await checkout(session)).toMatchObject({ state: 'paid', nextLookAt: null });
  expect(counts.nudges).toBe(1);
  clock.advance(DAY_MS);
  expect(await looks()).toEqual([]);
  expect(told).toEqual([]);
});

test('an open session is looked at ever more rarely as it grows old, hourly once its page has closed, and then no more', async () => {
  const { looks, clock, checkout, openSession } = await start();
  const session = await openSession();
  const nextAfter = async (ms: number) => {
    clock.set(ms);
    expect(await looks()).toEqual([session.id]);
    return (await checkout(session))?.nextLookAt;
  };
  expect(await nextAfter(NOW)).toBe(NOW + MINUTE_MS);
  clock.set(NOW + MINUTE_MS - 1);
  expect(await looks()).toEqual([]);
  expect(await nextAfter(NOW + MINUTE_MS)).toBe(NOW + 2 * MINUTE_MS);
  expect(await nextAfter(NOW + 10 * MINUTE_MS)).toBe(NOW + 15 * MINUTE_MS);
  expect(await nextAfter(NOW + HOUR_MS)).toBe(NOW + 2 * HOUR_MS);
  const closesAt = NOW + DAY_MS;
  expect(await nextAfter(closesAt - 1)).toBe(closesAt - 1 + HOUR_MS);
  clock.set(closesAt + 5 * MINUTE_MS);
  expect(await looks()).toEqual([]);
  const lastAt = closesAt + 14 * DAY_MS;
  expect(await nextAfter(lastAt)).toBe(lastAt + HOUR_MS);
  expect(await nextAfter(lastAt + HOUR_MS)).toBeNull();
  clock.advance(30 * DAY_MS);
  expect(await looks()).toEqual([]);
});

test('a session that an event calls paid is looked at before all others, and as often as one that is new', async () => {
  const { looks, clock, checkout, openSession, world, turn } = await start({ looksAtOnce: 1 });
  const [first, second, old] = [await openSession(), await openSession(), await openSession()];
  clock.set(NOW + 12 * HOUR_MS);
  world.events = [
    {
      ...event('session'),
      createdAtMs: clock.now() - MINUTE_MS,
      about: { kind: 'session', sessionId: old.id, saysPaid: true },
    },
    // So new an event may still come by itself.
    {
      ...event('session'),
      createdAtMs: clock.now() - MINUTE_MS + 1,
      about: { kind: 'session', sessionId: first.id, saysPaid: true },
    },
    { ...event('session'), about: { kind: 'session', sessionId: second.id, saysPaid: false } },
  ];
  await turn();
  expect((await checkout(old))?.nextLookAt).toBe(clock.now() + MINUTE_MS);
  for (const { checkoutId } of [first, second])
    expect((await checkout({ ...first, checkoutId }))?.nextLookAt).toBe(clock.now() + HOUR_MS);
  world.events = world.events.filter(({ about }) => about.kind !== 'session' || about.sessionId !== first.id);
  // The events overlap: the same one makes nothing due again.
  clock.advance(2 * MINUTE_MS);
  expect(await looks()).toEqual([old.id]);
  // All are overdue, and what was called paid goes first.
  clock.advance(2 * HOUR_MS);
  expect((await looks())[0]).toBe(old.id);
});

test('one that is never answered holds up none of a hundred others, and neither do some that fail for ever', async () => {
  const { looks, world, openSession, paidSession: pay, asked, database } = await start();
  const [hanging, failing] = [await openSession(), await openSession()];
  const good: ProcessorSession[] = [];
  for (let count = 0; count < 100; count += 1) good.push(await pay());
  let release = () => {};
  const hangs = new Promise<void>((resolve) => {
    release = resolve;
  });
  world.onFind = (id) => {
    if (id === hanging.id) return hangs;
    if (id === failing.id) throw new ProcessorFailure('unavailable', 'api_error', 'answered 500');
  };
  expect((await looks()).sort()).toEqual([hanging, failing, ...good].map(({ id }) => id).sort());
  for (const { id } of good) expect(await readMint(database.db, id)).toBeDefined();
  // Each was asked about once: what fails takes no more than its share.
  expect(asked.filter((one) => one === failing.id)).toHaveLength(1);
  release();
});

test('a session that fails again and again is asked about ever more rarely', async () => {
  const { looks, world, clock, checkout, openSession } = await start();
  const session = await openSession();
  world.onFind = () => {
    throw new ProcessorFailure('unavailable', 'api_error', 'answered 500');
  };
  const pauses: number[] = [];
  for (let look = 0; look < 4; look += 1) {
    await looks();
    const nextLookAt = (await checkout(session))?.nextLookAt ?? 0;
    pauses.push((nextLookAt - clock.now()) / MINUTE_MS);
    clock.set(nextLookAt);
  }
  expect(pauses).toEqual([2, 4, 8, 60]);
});

test('two processes take different sessions', async () => {
  const { database, clock, openSession, looks } = await start();
  const sessions = [await openSession(), await openSession()];
  const of = { nowMs: clock.now(), limit: 1, claimMs: MINUTE_MS };
  const [claimed] = await claimLooks(database.db, of);
  const left = sessions.filter(({ id }) => id !== claimed?.processorSessionId);
  expect(await looks()).toEqual(left.map(({ id }) => id));
});

test('at the moment at which its page closes a session is late', async () => {
  const { looks, clock, checkout, openSession } = await start();
  const session = await openSession();
  clock.set(NOW + DAY_MS);
  expect(await looks()).toEqual([session.id]);
  expect((await checkout(session))?.nextLookAt).toBe(NOW + DAY_MS + HOUR_MS);
});

test('a session that the processor says is over is not looked at again', async () => {
  const { looks, checkout, openSession } = await start();
  const session = await openSession();
  session.status = 'expired';
  expect(await looks()).toEqual([session.id]);
  expect(await checkout(session)).toMatchObject({ state: 'expired', nextLookAt: null });
});

test('a session that is gone at the processor is looked at on, in its turn', async () => {
  const { looks, world, checkout, openSession, told } = await start();
  const [gone, other] = [await openSession(), await openSession()];
  world.sessions.shift();
  expect(await looks()).toEqual([gone.id, other.id]);
  expect((await checkout(gone))?.nextLookAt).toBe(NOW + MINUTE_MS);
  expect(told).toEqual([]);
});

test('while the processor is away it is asked about one session at a time, and the operator is told', async () => {
  const { looks, world, checkout, clock, openSession, told } = await start({
    looksAtOnce: 2,
    awayLookEveryMs: HOUR_MS,
  });
  const sessions: ProcessorSession[] = [];
  for (let count = 0; count < 10; count += 1) sessions.push(await openSession());
  world.onFind = () => {
    throw new ProcessorFailure('unavailable', 'rate_limit', 'too many requests');
  };
  // Two of them fail, then one at a time is tried.
  expect(await looks()).toHaveLength(3);
  expect(told).toContainEqual(expect.objectContaining({ message: 'the processor tells nothing' }));
  const due = [];
  for (const session of sessions) if ((await checkout(session))?.nextLookAt === NOW) due.push(session.id);
  expect(due).toHaveLength(7);
  expect(clock.now()).toBe(NOW);
});

test('with an answer all that is due is looked at', async () => {
  const { looks, world, openSession } = await start({ looksAtOnce: 2, awayLookEveryMs: 1 });
  const sessions: ProcessorSession[] = [];
  for (let count = 0; count < 10; count += 1) sessions.push(await openSession());
  let failures = 0;
  world.onFind = () => {
    failures += 1;
    if (failures <= 3) throw new ProcessorFailure('unavailable', 'rate_limit', 'too many requests');
  };
  await expect.poll(async () => [...(await looks()), failures].at(-1)).toBe(10);
});

test('no more looks begin in a second than the rate allows', async () => {
  const { looks, openSession } = await start({ looksAtOnce: 2, looksPerSecond: 0.001 });
  for (let count = 0; count < 10; count += 1) await openSession();
  expect(await looks()).toHaveLength(2);
  expect(await looks()).toHaveLength(0);
});

test.each([
  ['and what is under way ends', () => {}],
  [
    'and what is under way is cut off',
    () => {
      throw new Error('cut off');
    },
  ],
])('a stop leaves the sessions that are left to the next process, %s', async (_, end) => {
  const { looks, world, loop, openSession, told, asked } = await start({ looksAtOnce: 1 });
  const [first] = [await openSession(), await openSession()];
  world.onFind = () => {
    void loop.stop();
    end();
  };
  const sessions = () => asked.filter((one) => typeof one === 'string');
  void looks();
  await expect.poll(sessions).toEqual([first.id]);
  await loop.stop();
  // It asked about nobody else, and a stop is no failure.
  expect([sessions(), told]).toEqual([[first.id], []]);
});

test('sessions that were never noted are found by the checkout that they name, and are due at once', async () => {
  const { looks, world, counts, checkout, database, clock, paidSession: pay, openSession } = await start();
  const noted = await openSession();
  await planNextLook(database.db, { id: noted.checkoutId ?? '', claimedUntil: NOW, nextLookAt: null });
  const late = await pay({ isNoted: false, plannedAt: NOW - 3_000 });
  const early = await pay({ isNoted: false, plannedAt: NOW - 9_000 });
  const stranger = { ...late, id: freshKey('cs_'), checkoutId: null };
  const older = { ...late, id: freshKey('cs_'), checkoutId: freshKey('elsewhere') };
  world.sessions = [stranger, noted, late, early, older];
  const [search, ...found] = await looks();
  expect(search).toEqual({ sessionsSince: NOW - 9_000 - usual.skewMs });
  expect(found.sort()).toEqual([late.id, early.id].sort());
  // Nothing older is asked for when all are found.
  expect(counts.listed).toBe(4);
  // One that is known and done stays as it is.
  expect((await checkout(noted))?.nextLookAt).toBeNull();
  for (const session of [late, early])
    expect(await checkout(session)).toMatchObject({
      processorSessionId: session.id,
      state: 'paid',
      nextLookAt: null,
    });
  for (const session of [late, early]) expect(await readMint(database.db, session.id)).toBeDefined();
  clock.advance(DAY_MS);
  expect(await looks()).toEqual([]);
});

test('a checkout whose session the processor does not have is looked for while its page could be open', async () => {
  const { looks, world, checkout, clock, openSession } = await start();
  const lost = await openSession({ isNoted: false });
  world.sessions = [];
  const search = [{ sessionsSince: NOW - usual.skewMs }];
  expect(await looks()).toEqual(search);
  expect((await checkout(lost))?.nextLookAt).toBe(NOW + MINUTE_MS);
  clock.set(NOW + DAY_MS - 1);
  expect(await looks()).toEqual(search);
  expect((await checkout(lost))?.nextLookAt).toBe(NOW + DAY_MS - 1 + HOUR_MS);
  clock.set(NOW + DAY_MS - 1 + HOUR_MS);
  expect(await looks()).toEqual(search);
  expect(await checkout(lost)).toMatchObject({ nextLookAt: null, state: 'creating' });
});

test('at the moment at which its page would close a checkout without session is given up', async () => {
  const { looks, world, checkout, clock, openSession } = await start();
  const lost = await openSession({ isNoted: false });
  world.sessions = [];
  clock.set(NOW + DAY_MS);
  await looks();
  expect((await checkout(lost))?.nextLookAt).toBeNull();
});

test('of two checkouts without session the one that is found is attached, and the other looked for later', async () => {
  const { looks, world, checkout, openSession } = await start();
  const [found, lost] = [await openSession({ isNoted: false }), await openSession({ isNoted: false })];
  world.sessions = [found];
  await looks();
  expect([(await checkout(found))?.nextLookAt, (await checkout(lost))?.nextLookAt]).toEqual([
    ...[NOW + MINUTE_MS, NOW + MINUTE_MS],
  ]);
});

const event = (kind: ProcessorEvent['about']['kind']): ProcessorEvent => ({
  id: freshKey('evt_'),
  type: kind,
  createdAtMs: NOW,
  livemode: false,
  objectId: 'ch_1',
  about: {
    kind,
    paymentIntentId: 'pi_1',
    refundedAmount: 1,
    disputeId: 'dp_1',
    sessionId: 'cs_1',
    saysPaid: false,
  } as ProcessorEvent['about'],
});

test('refunds and disputes that no event told are received, the oldest first; the rest tells nothing new', async () => {
  const { turn, world, received, paidSession: pay } = await start();
  await pay();
  const [newest, oldest] = [event('refund'), event('dispute')];
  world.events = [newest, event('session'), event('other'), oldest];
  await turn();
  expect(received).toEqual([oldest.id, newest.id]);
});

test('events are looked at at their pace, from a little before the look before', async () => {
  const { turn, clock, paidSession: pay } = await start();
  await pay();
  expect(await turn()).toContainEqual({ eventsSince: NOW - 2 * DAY_MS });
  clock.advance(2 * MINUTE_MS - 1);
  expect(await turn()).toEqual([]);
  clock.advance(1);
  expect(await turn()).toEqual([{ eventsSince: NOW - HOUR_MS }]);
  clock.advance(5 * MINUTE_MS);
  expect(await turn()).toEqual([{ eventsSince: NOW + 2 * MINUTE_MS - HOUR_MS }]);
  // Set back as far as the look before nothing is due, and a moment further it is.
  const lastMs = clock.now();
  expect(await turn()).toEqual([]);
  clock.set(lastMs - 1);
  expect(await turn()).toEqual([{ eventsSince: lastMs - HOUR_MS }]);
});

test('what could not be received is received by a later look, before what came after it', async () => {
  const { turn, clock, world, received, paidSession: pay } = await start();
  await pay();
  await turn();
  const [second, first] = [event('refund'), event('refund')];
  world.events = [second, first];
  world.onReceive = () => {
    throw new Error('the ledger is away');
  };
  clock.advance(2 * MINUTE_MS);
  expect(await turn()).toEqual([{ eventsSince: NOW - HOUR_MS }]);
  expect(received).toEqual([]);
  world.onReceive = () => {};
  await expect
    .poll(async () => {
      await turn();
      return received;
    })
    .toEqual([first.id, second.id]);
});

test('a stop between two events leaves the later one to the next process', async () => {
  const { turn, world, loop, received, paidSession: pay } = await start();
  await pay();
  const [second, first] = [event('refund'), event('refund')];
  world.events = [second, first];
  world.onReceive = () => void loop.stop();
  void turn();
  await expect.poll(() => received).toEqual([first.id]);
  await loop.stop();
  expect(received).toEqual([first.id]);
});

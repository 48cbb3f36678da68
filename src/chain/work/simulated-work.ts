/**
 * Work of a lane whose calls are tried out before they are signed: one call a transaction, settled by its block; and the
 * lane that is kept going while any wait.
 */
import type { Database, Queries, SqlTime } from '../../ledger/database/database.ts';
import type { LanePurpose } from '../../ledger/schema/transactions.ts';
import type { Pauses, Window } from '../../ledger/transactions/refused-work.ts';
import type { Hex } from '../../lib/hex.ts';
import { createLoop } from '../../lib/loop.ts';
import type { AlarmCode, Alarms } from '../alarms.ts';
import { createLane } from '../lane/lane.ts';
import type { LaneDeps, LaneSettings, LaneWork } from '../lane/types.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { type TriedCall, tryCalls, type Verdict } from './try-calls.ts';

/** The rows that wait for a transaction of the lane. */
export interface SimulatedQueue {
  /** Work that is due, was not given up and is in no transaction yet; brands take turns. */
  waiting: (db: Queries, window: Window) => Promise<TriedCall[]>;
  /** False when it is bound or given up already. */
  bind: (tx: Queries, bound: { key: Hex; transactionId: string }) => Promise<boolean>;
  /** False when a transaction carries it after all. */
  giveUp: (db: Queries, given: { key: Hex; failure: string }) => Promise<boolean>;
  /** The call was refused: it is due again after a pause that grows. */
  noteRefused: (
    db: Queries,
    refusal: { key: Hex; now: SqlTime; pauses: Pauses; reason: string },
  ) => Promise<void>;
  /** The call is due again after `pauseMs`; nothing is held against it. */
  postpone: (db: Queries, postponed: { key: Hex; now: SqlTime; pauseMs: number }) => Promise<void>;
  /** The first of the calls that wait since they were refused, with the last reason. */
  firstRefused: (db: Queries) => Promise<{ key: Hex; reason: string } | undefined>;
  /** Whether a call that the contract refuses with this error is given up; with any other it waits, with an alarm. */
  neverRuns: (key: Hex, error: string) => boolean;
  /** `givenUp`: absent where a refusal is nothing that an operator must see. */
  alarms: { refused: AlarmCode; givenUp?: AlarmCode };
  /** What a call is called in the alarm that names the first of those that wait. */
  what: (key: Hex) => string;
}

export interface SimulatedWorkDeps {
  database: Database;
  rpc: Rpc;
  alarms: Alarms;
  /** The account that sends. */
  account: Hex;
  queue: SimulatedQueue;
  onSent: () => void;
  onGivenUp: () => void;
  /** How long a refused call waits until it is tried out again: at first, and in the end. */
  refusedRetryMs: number;
  refusedRetryMaxMs: number;
  /** Calls that are tried out with one request to a node, and signed in one commit at most. */
  batchMax: number;
}

export interface SimulatedWork extends LaneWork {
  /**
   * Tries out what waits. What would have its effect may be sent from now on; a call that can never run is given up with
   * the contract's reason; anything else waits, with an alarm that names the reason, and is out of the way meanwhile.
   * Rejects when no node answers.
   */
  tryOut(): Promise<void>;
}

export function simulatedWork(deps: SimulatedWorkDeps): SimulatedWork {
  const { database, queue, batchMax } = deps;
  let mayBeSent = new Map<Hex, TriedCall>();
  const tellRefused = createRefusedAlarm(deps);
  return {
    async tryOut() {
      const waiting = await queue.waiting(database.db, { now: database.now, limit: batchMax });
      mayBeSent = new Map(waiting.flatMap((call) => (mayBeSent.has(call.key) ? [[call.key, call]] : [])));
      if (waiting.length === mayBeSent.size) return tellRefused(false);
      const judged = await judge(deps, waiting);
      mayBeSent = judged.runs;
      await tellRefused(judged.refusals > 0);
      // The others were looked after all the same.
      if (judged.failures.length > 0) throw judged.failures[0];
    },
    isWaiting: async () => mayBeSent.size > 0,
    async bindNext(tx, transactionIds) {
      const bound: TriedCall[] = [];
      for (const call of mayBeSent.values()) {
        const transactionId = transactionIds[bound.length];
        if (transactionId === undefined) break;
        if (await queue.bind(tx, { key: call.key, transactionId })) bound.push(call);
      }
      return bound.map(({ to, data, gas }) => ({ to, data, valueWei: 0n, gas }));
    },
    sent: deps.onSent,
  };
}

/** Tries all of a window out, and does what the verdicts say. `runs`: what may be sent · `refusals`: how many wait · `failures`: of the ledger. */
async function judge(
  deps: SimulatedWorkDeps,
  waiting: TriedCall[],
): Promise<{ runs: Map<Hex, TriedCall>; refusals: number; failures: unknown[] }> {
  const { rpc, account, queue } = deps;
  const verdicts = await tryCalls({ rpc, account, neverRuns: queue.neverRuns }, waiting);
  const runs = new Map<Hex, TriedCall>();
  const failures: unknown[] = [];
  let refusals = 0;
  for (const [place, call] of waiting.entries()) {
    const verdict = verdicts[place] as Verdict;
    if (verdict.kind === 'runs') runs.set(call.key, call);
    else
      await settle(deps, call.key, verdict).then(
        (isRefusal) => {
          if (isRefusal) refusals += 1;
        },
        (error: unknown) => void failures.push(error),
      );
  }
  return { runs, refusals, failures };
}

/** True for a refusal. */
async function settle(
  { database, queue, alarms, refusedRetryMs, refusedRetryMaxMs, onGivenUp }: SimulatedWorkDeps,
  key: Hex,
  verdict: Verdict,
): Promise<boolean> {
  const { db, now } = database;
  if (verdict.kind === 'later') await queue.postpone(db, { key, now, pauseMs: refusedRetryMs });
  if (verdict.kind === 'never') {
    const { reason } = verdict;
    const isGivenUp = await queue.giveUp(db, { key, failure: reason });
    if (isGivenUp && queue.alarms.givenUp) alarms.raise(queue.alarms.givenUp, key, { reason });
    onGivenUp();
  }
  if (verdict.kind !== 'refused') return false;
  const pauses = { firstMs: refusedRetryMs, maxMs: refusedRetryMaxMs };
  await queue.noteRefused(db, { key, now, pauses, reason: verdict.reason });
  return true;
}

/** Raises the alarm of refused calls, and ends it once the ledger has none that waits. */
function createRefusedAlarm({ database, queue, alarms, account }: SimulatedWorkDeps) {
  let isRaised = false;
  return async (isNew: boolean): Promise<void> => {
    // While nothing is refused, the ledger is not asked.
    if (!isNew && !isRaised) return;
    const first = await queue.firstRefused(database.db);
    isRaised = first !== undefined;
    if (first)
      alarms.raise(queue.alarms.refused, account, {
        [queue.what(first.key)]: first.key,
        reason: first.reason,
      });
    else alarms.clear(queue.alarms.refused, account);
  };
}

export interface TriedLaneSettings {
  /** Calls that are tried out and signed together at most, each in a transaction of its own. */
  storeMax: number;
  idlePollMs: number;
  /** How long a call that the contract refuses waits until it is tried out again; each time twice as long … */
  refusedRetryMs: number;
  /** … up to this. */
  refusedRetryMaxMs: number;
}

export interface TriedLaneDeps extends Omit<LaneDeps, 'work' | 'settings'> {
  rpc: Rpc;
  /** A node has a call: its block may follow at once. */
  onSent: () => void;
  /** A call was given up: its callers need not wait. */
  onGivenUp: () => void;
  lane: Omit<LaneSettings, 'purpose' | 'storeMax'>;
  settings: TriedLaneSettings;
}

/** Keeps a lane going whose calls are tried out first: turn after turn while any wait. */
export function createTriedLane(
  deps: TriedLaneDeps,
  of: {
    name: string;
    purpose: LanePurpose;
    workOf: (deps: Omit<SimulatedWorkDeps, 'queue'>) => SimulatedWork;
  },
) {
  const { storeMax, idlePollMs, refusedRetryMs, refusedRetryMaxMs } = deps.settings;
  const pauses = { refusedRetryMs, refusedRetryMaxMs };
  const work = of.workOf({ ...deps, ...pauses, account: deps.signer.address, batchMax: storeMax });
  const lane = createLane({ ...deps, work, settings: { ...deps.lane, purpose: of.purpose, storeMax } });
  const loop = createLoop({
    name: of.name,
    async turn() {
      // What is in flight is looked after even while nothing can be tried out.
      const tried = work.tryOut();
      const [trial, turn] = await Promise.allSettled([tried, tried.catch(() => {}).then(lane.turn)]);
      if (trial.status === 'rejected') throw trial.reason;
      if (turn.status === 'rejected') throw turn.reason;
      return turn.value;
    },
    pauseMs: () => idlePollMs,
    log: deps.log,
  });
  return {
    /** Calls wait, or there may be room for more. */
    nudge: loop.nudge,
    /** Blocks were taken back. */
    reload() {
      lane.reload();
      loop.nudge();
    },
    start: loop.start,
    async stop() {
      await loop.stop();
      await lane.release();
    },
  };
}

/** Work of a lane whose calls are tried out before they are signed: one call a transaction, settled by its block. */
import type { Database, Queries } from '../../ledger/database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { AlarmCode, Alarms } from '../alarms.ts';
import { simulateCalls } from '../contracts/calls/simulate.ts';
import type { LaneWork } from '../lane/types.ts';
import type { Rpc } from '../rpc/rpc.ts';

type Hex = `0x${string}`;

/** A call that waits for a transaction; `key` names it in its queue. */
export interface TriedCall {
  key: Hex;
  to: Hex;
  data: Hex;
  gas: bigint;
}

/** The rows that wait for a transaction of the lane. */
export interface TriedQueue {
  /** What no transaction carries and nobody gave up, oldest first. */
  waiting: (db: Queries, limit: number) => Promise<TriedCall[]>;
  /** Throws when it is bound or given up already. */
  bind: (tx: Queries, bound: { key: Hex; transactionId: string }) => Promise<void>;
  /** False when a transaction carries it after all. */
  giveUp: (db: Queries, given: { key: Hex; failure: string }) => Promise<boolean>;
  /** Whether a call that the contract refuses for this reason is given up; anything else waits, with an alarm. */
  neverRuns: (reason: string) => boolean;
  /** `givenUp`: absent where a refusal is nothing that an operator must see. */
  alarms: { refused: AlarmCode; givenUp?: AlarmCode };
  /** What a call is called in the alarm that names the first of those that wait. */
  what: (key: Hex) => string;
}

export interface TriedWorkDeps {
  database: Database;
  rpc: Rpc;
  alarms: Alarms;
  /** The account that sends. */
  account: Hex;
  queue: TriedQueue;
  onSent: () => void;
  onGivenUp: () => void;
  realClock: Clock;
  /** How long refused calls wait until they are tried out again, when nothing new waits. */
  refusedRetryMs: number;
  /** Calls that are tried out with one request to a node, and signed in one commit at most. */
  batchMax: number;
}

export interface TriedWork extends LaneWork {
  /**
   * Tries out what waits. What would have its effect may be sent from now on; a call that can never run is given up with
   * the contract's reason; anything else waits, with an alarm that names the reason. Rejects when no node answers.
   */
  tryOut(): Promise<void>;
}

export function triedWork(deps: TriedWorkDeps): TriedWork {
  const { database, rpc, alarms, realClock, account, queue, batchMax } = deps;
  let mayBeSent = new Set<Hex>();
  let refused = new Set<Hex>();
  let triedAtMs = Number.NEGATIVE_INFINITY;
  return {
    async tryOut() {
      const waiting = await queue.waiting(database.db, batchMax);
      const stillWait = (known: Set<Hex>) =>
        new Set(waiting.flatMap(({ key }) => (known.has(key) ? key : [])));
      mayBeSent = stillWait(mayBeSent);
      refused = stillWait(refused);
      if (refused.size === 0) alarms.clear(queue.alarms.refused, account);
      const isNew = waiting.length > mayBeSent.size + refused.size;
      const isTimeAgain = refused.size > 0 && realClock.now() - triedAtMs >= deps.refusedRetryMs;
      if (!isNew && !isTimeAgain) return;
      const trials = await simulateCalls(
        rpc,
        waiting.map(({ to, data, gas }) => ({ from: account, to, data, gas, valueWei: 0n })),
      );
      triedAtMs = realClock.now();
      let first: { key: Hex; reason: string } | undefined;
      for (const [place, { key }] of waiting.entries()) {
        const trial = trials[place];
        if (!trial) continue;
        mayBeSent.delete(key);
        refused.delete(key);
        if (trial.succeeded) {
          mayBeSent.add(key);
        } else if (queue.neverRuns(trial.reason)) {
          const { givenUp } = queue.alarms;
          if ((await queue.giveUp(database.db, { key, failure: trial.reason })) && givenUp)
            alarms.raise(givenUp, key, { reason: trial.reason });
          deps.onGivenUp();
        } else {
          refused.add(key);
          first ??= { key, reason: trial.reason };
        }
      }
      if (first)
        alarms.raise(queue.alarms.refused, account, {
          [queue.what(first.key)]: first.key,
          reason: first.reason,
        });
      else alarms.clear(queue.alarms.refused, account);
    },
    isWaiting: async () => mayBeSent.size > 0,
    async bindNext(tx, transactionIds) {
      const waiting = await queue.waiting(tx, batchMax);
      const next = waiting.filter(({ key }) => mayBeSent.has(key)).slice(0, transactionIds.length);
      for (const [place, { key }] of next.entries())
        await queue.bind(tx, { key, transactionId: transactionIds[place] as string });
      return next.map(({ to, data, gas }) => ({ to, data, valueWei: 0n, gas }));
    },
    sent: deps.onSent,
  };
}

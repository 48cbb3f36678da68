/**
 * Wallets of users who have yet to come, derived by a thread beside the program's own: where users come by the hundred, a
 * seventh of that one's time went into their addresses. A place of the tree has one address whoever derives it, so nothing
 * depends on the thread: what it has not done, the program does.
 */
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Log } from '../lib/log.ts';
import type { Derived, DeriveTask } from './derive-thread.ts';
import { childAddress, type TreeLevel, type WalletTree } from './wallets.ts';

/** New users of one turn of the event loop from which on a thread is worth its messages. */
const MANY = 16;
/** Addresses derived ahead for each new user of a turn: several turns pass until the thread has answered. */
const TURNS_AHEAD = 8;
/** Addresses kept for users who have yet to come: under a megabyte. */
const MOST_AHEAD = 4_096;
/** The thread is stopped when it has derived so many more addresses that no user of this process took than ones that users took: other processes have given those places to their users. */
const MOST_IN_VAIN = 16_384;

/** It keeps nothing between two messages; V8 would let its garbage grow to 48 MB. */
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 32 };

/** Beside the program in dist/. Sources that no build has put there derive by themselves. */
const builtThread = new URL('./derive-thread.js', import.meta.url);

/** `module`: the thread's program. When it fails, one line is logged, and addresses are derived on this thread. */
export function walletsDerivedAhead(
  level: TreeLevel,
  { log, module = builtThread }: { log: Log; module?: URL },
): WalletTree & { stop(): Promise<void> } {
  /** In the order of their places. */
  const ready = new Map<number, `0x${string}`>();
  /** Of the turn: how many places were asked for, and the last. */
  let asked = 0;
  let last = 0;
  /** The first place that the thread was not asked for yet. */
  let next = 0;
  /** Places derived that no user took, less those that users took. */
  let inVain = 0;
  const thread = openThread(level, module, {
    onDerived({ from, addresses }) {
      addresses.forEach((address, offset) => {
        ready.set(from + offset, address);
      });
    },
    onFailure: ({ message }) =>
      log.warn(
        { error: message },
        'wallets are derived as users come: the thread that did it ahead has ended',
      ),
  });
  const dropPassed = (before: number) => {
    for (const place of ready.keys()) {
      if (place >= before) return;
      ready.delete(place);
      inVain += 1;
    }
  };
  const endTurn = () => {
    const users = asked;
    asked = 0;
    if (!thread.isFree() || users < MANY) return;
    dropPassed(last - users);
    if (inVain > MOST_IN_VAIN) return void thread.stop();
    // A ledger that went back to an earlier state gives places again.
    if (next > last + 2 * MOST_AHEAD) {
      ready.clear();
      next = 0;
    }
    const from = Math.max(next, last + 1);
    const count = last + 1 + Math.min(MOST_AHEAD, users * TURNS_AHEAD) - from;
    if (count < users) return;
    next = from + count;
    thread.derive({ from, count });
  };
  return {
    stop: thread.stop,
    addressAt(index) {
      if (asked === 0) setImmediate(endTurn);
      asked += 1;
      last = index;
      const derived = ready.get(index);
      if (derived === undefined) return childAddress(level, index);
      ready.delete(index);
      inVain -= 1;
      return derived;
    },
  };
}

/** One task at a time; it starts with the first, and is free no more once it has failed or was stopped. */
function openThread(
  level: TreeLevel,
  module: URL,
  hears: { onDerived(derived: Derived): void; onFailure(error: Error): void },
) {
  let worker: Worker | undefined;
  let state: 'free' | 'at work' | 'ended' = existsSync(module) ? 'free' : 'ended';
  const start = () => {
    const started = new Worker(module, { workerData: level, resourceLimits: THREAD_MEMORY });
    started.on('message', (derived: Derived) => {
      if (state === 'at work') state = 'free';
      hears.onDerived(derived);
    });
    started.on('error', (error) => {
      state = 'ended';
      hears.onFailure(error);
    });
    // The program ends without asking it.
    started.unref();
    return started;
  };
  return {
    isFree: () => state === 'free',
    derive(task: DeriveTask) {
      state = 'at work';
      worker ??= start();
      worker.postMessage(task);
    },
    async stop() {
      state = 'ended';
      await worker?.terminate();
    },
  };
}

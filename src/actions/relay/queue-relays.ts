/** Admits calls to the relay's queue within the payer's budget, the user's share of it and the user's window; calls that arrive together share a commit. */
import { commitOnce } from '../../ledger/database/commit-once.ts';
import {
  type BusinessTime,
  type Database,
  isContention,
  isLockTimeout,
  tryAgain,
} from '../../ledger/database/database.ts';
import {
  type RateLimit,
  type RateWindow,
  readWindow,
  takeFromWindow,
} from '../../ledger/limits/rate-windows.ts';
import {
  DAY_MS,
  giveBackGas,
  giveBackGasShare,
  takeGas,
  takeGasShare,
} from '../../ledger/relay/gas-budgets.ts';
import { type NewRelay, readRelays, storeRelays } from '../../ledger/relay/queued-relays.ts';
import type { GasPayer } from '../../ledger/schema/relay.ts';
import { createPartingGatherer } from '../../lib/gather/gather-apart.ts';

interface QueueRelaysDeps {
  database: Database;
  businessTime: BusinessTime;
  /** Contract: Limits, Relay transactions; per user address. */
  userLimit: RateLimit;
  /** Calls admitted in one commit. */
  batchMax: number;
  /** Tries of a commit that conflicts with another process. */
  triesMax: number;
}

/** A call, and what its payer, and its user of that, may spend for gas on a day. */
interface RelayWish extends NewRelay {
  budgetGwei: number;
  shareGwei: number;
}

type QueueAnswer =
  | { queued: true; window: RateWindow }
  | { queued: false; reason: 'rate_limit'; window: RateWindow }
  | { queued: false; reason: 'gas_budget'; of: 'payer' | 'user'; resetAtMs: number };

/** Returns the function that queues one call; calls that arrive together share a commit. */
export function createRelayQueue(deps: QueueRelaysDeps) {
  // A payer in whose rounds a row stayed locked has rounds of its own, so that the others do not wait for it.
  const { submit: queue, idle } = createPartingGatherer<RelayWish, QueueAnswer, GasPayer>({
    maxItems: deps.batchMax,
    keyOf: ({ payer }) => payer,
    isLocked: isLockTimeout,
    run: (wishes) => admitOnce(deps, wishes, isContention),
    // Many processes share a payer's row: waiting for it longer than one lock may take is no fault.
    runApart: (wishes) => admitOnce(deps, wishes, (error) => isContention(error) || isLockTimeout(error)),
  });
  return {
    queue,
    /** Resolves when no call is being queued. */
    idle,
  };
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const inOrder = (wishes: RelayWish[]) =>
  wishes.toSorted((a, b) => byText(a.payer, b.payer) || byText(a.userAddress, b.userAddress));

type Answers = Map<RelayWish, QueueAnswer>;

/** Admits each call once: one that another try of its request has queued meanwhile takes nothing a second time. */
async function admitOnce(
  deps: QueueRelaysDeps,
  round: RelayWish[],
  isPassing: (error: unknown) => boolean,
): Promise<QueueAnswer[]> {
  const { businessTime, triesMax, userLimit } = deps;
  const { db } = deps.database;
  const answers = await commitOnce<RelayWish, QueueAnswer>(round, {
    commit: (wishes) => tryAgain(() => admit(deps, wishes), { triesMax, isPassing }),
    async there(wishes) {
      const ids = wishes.map(({ id }) => id);
      const known = new Set((await readRelays(db, ids)).map(({ id }) => id));
      return wishes.filter(({ id }) => known.has(id));
    },
    async answerThere({ userAddress: subject }) {
      return { queued: true, window: await readWindow(db, { ...userLimit, subject, now: businessTime() }) };
    },
  });
  return round.map((wish) => answers.get(wish) as QueueAnswer);
}

/** All budgets first, then all shares, then all windows, each in the same order in every process, so that two processes cannot deadlock. */
async function admit(
  { database, businessTime, userLimit }: QueueRelaysDeps,
  wishes: RelayWish[],
): Promise<Answers> {
  return database.atomically(async (tx) => {
    const answers: Answers = new Map();
    const overBudget = (wish: RelayWish, of: 'payer' | 'user') => {
      const resetAtMs = (wish.budgetDay + 1) * DAY_MS;
      answers.set(wish, { queued: false, reason: 'gas_budget', of, resetAtMs });
    };
    const within: RelayWish[] = [];
    for (const wish of inOrder(wishes)) {
      if (await takeGas(tx, { ...gasOf(wish), limitGwei: wish.budgetGwei })) within.push(wish);
      else overBudget(wish, 'payer');
    }
    const paid: RelayWish[] = [];
    for (const wish of within) {
      if (await takeGasShare(tx, { ...gasOf(wish), limitGwei: wish.shareGwei })) paid.push(wish);
      else {
        await giveBackGas(tx, gasOf(wish));
        overBudget(wish, 'user');
      }
    }
    const admitted = new Set<RelayWish>();
    for (const wish of paid.toSorted((a, b) => byText(a.userAddress, b.userAddress))) {
      const { userAddress: subject } = wish;
      const { taken, ...window } = await takeFromWindow(tx, { ...userLimit, subject, now: businessTime() });
      if (taken) {
        admitted.add(wish);
        answers.set(wish, { queued: true, window });
        continue;
      }
      await giveBackGas(tx, gasOf(wish));
      await giveBackGasShare(tx, gasOf(wish));
      answers.set(wish, { queued: false, reason: 'rate_limit', window });
    }
    // In the order in which they came.
    await storeRelays(
      tx,
      wishes.filter((wish) => admitted.has(wish)).map(({ budgetGwei: _, shareGwei: __, ...relay }) => relay),
    );
    return answers;
  });
}

const gasOf = ({ payer, budgetDay: day, userAddress, reservedGwei: gwei }: RelayWish) => ({
  ...{ payer, day, userAddress, gwei },
});

/** Admits calls to the relay's queue within the payer's budget, the user's share of it and the user's window; calls that arrive together share a commit. */
import { commitOnce } from '../../ledger/database/commit-once.ts';
import {
  type BusinessTime,
  type Database,
  isContention,
  isLockTimeout,
  type Queries,
  tryAgain,
} from '../../ledger/database/database.ts';
import {
  type RateLimit,
  type RateWindow,
  readWindow,
  takeFromWindows,
} from '../../ledger/limits/rate-windows.ts';
import {
  DAY_MS,
  giveBackGas,
  giveBackGasShare,
  takeGas,
  takeGasShares,
} from '../../ledger/relay/gas-budgets.ts';
import { type NewRelay, readRelays, storeRelays } from '../../ledger/relay/queued-relays.ts';
import type { GasPayer } from '../../ledger/schema/relay.ts';
import { createKeyedBatcher } from '../../lib/batch/keyed-batcher.ts';

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
  const { submit: queue, idle } = createKeyedBatcher<RelayWish, QueueAnswer, GasPayer>({
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
  wishes.toSorted(
    (a, b) => byText(a.payer, b.payer) || a.budgetDay - b.budgetDay || byText(a.userAddress, b.userAddress),
  );

/** At least one call. */
type Group = [RelayWish, ...RelayWish[]];

function groupsOf(wishes: RelayWish[], keyOf: (wish: RelayWish) => string): Group[] {
  const groups = new Map<string, Group>();
  for (const wish of wishes) {
    const key = keyOf(wish);
    const group = groups.get(key);
    if (group) group.push(wish);
    else groups.set(key, [wish]);
  }
  return [...groups.values()];
}

/** Calls of one payer, each of another user: a user's second call is in a later group. */
function groupsOfShares(wishes: RelayWish[]): Group[] {
  const calls = new Map<string, number>();
  return groupsOf(wishes, ({ payer, budgetDay, shareGwei, userAddress }) => {
    const terms = `${payer} ${budgetDay} ${shareGwei}`;
    const call = (calls.get(`${terms} ${userAddress}`) ?? 0) + 1;
    calls.set(`${terms} ${userAddress}`, call);
    return `${terms} ${call}`;
  });
}

/** The calls that their payers' budgets have room for, whose worst case is taken from them. */
async function withinBudgets(tx: Queries, wishes: RelayWish[]): Promise<Set<RelayWish>> {
  const within = new Set<RelayWish>();
  const take = async (some: Group) => {
    const [{ payer, budgetDay: day, budgetGwei: limitGwei }] = some;
    const gwei = some.reduce((sum, { reservedGwei }) => sum + reservedGwei, 0);
    const taken = await takeGas(tx, { payer, day, gwei, limitGwei });
    if (taken) for (const wish of some) within.add(wish);
    return taken;
  };
  for (const group of groupsOf(
    wishes,
    ({ payer, budgetDay, budgetGwei }) => `${payer} ${budgetDay} ${budgetGwei}`,
  )) {
    // Where there is no room for all of them, there may be for some.
    if (!(await take(group))) for (const wish of group) await take([wish]);
  }
  return within;
}

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
    const ordered = inOrder(wishes);
    const within = await withinBudgets(tx, ordered);
    for (const wish of ordered) if (!within.has(wish)) overBudget(wish, 'payer');
    const paid: RelayWish[] = [];
    for (const group of groupsOfShares([...within])) {
      const [{ payer, budgetDay: day, shareGwei: limitGwei }] = group;
      const taken = await takeGasShares(tx, { payer, day, limitGwei }, group.map(gasOf));
      for (const wish of group) {
        if (taken.has(wish.userAddress)) paid.push(wish);
        else {
          await giveBackGas(tx, gasOf(wish));
          overBudget(wish, 'user');
        }
      }
    }
    const users = paid.map(({ userAddress }) => userAddress);
    const windows = await takeFromWindows(tx, { ...userLimit, now: businessTime() }, users);
    const admitted = new Set<RelayWish>();
    for (const [place, wish] of paid.entries()) {
      const { taken, ...window } = windows[place] as (typeof windows)[number];
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
  payer,
  day,
  userAddress,
  gwei,
});

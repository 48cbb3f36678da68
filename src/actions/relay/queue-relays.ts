/** Admits calls to the relay's queue within the payer's budget, the user's share of it and the user's window; calls that arrive together share a commit. */
import {
  type BusinessTime,
  type Database,
  isContention,
  isLockTimeout,
  isUniqueViolation,
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
import { createGatherer } from '../../lib/gather.ts';

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

/** An answer, or the promise of one: the round that the call was taken out of does not wait for it. */
interface Queued {
  answer: QueueAnswer | Promise<QueueAnswer>;
}
type Gatherer = ReturnType<typeof createGatherer<RelayWish, Queued>>;

/** Returns the function that queues one call; calls that arrive together share a commit. */
export function createRelayQueue(deps: QueueRelaysDeps) {
  /** Payers in whose rounds a row stayed locked: each has rounds of its own, so that the others do not wait for it. */
  const apart = new Map<GasPayer, Gatherer>();
  const together: Gatherer = createGatherer<RelayWish, Queued>({
    maxItems: deps.batchMax,
    run: (wishes) =>
      admitTogether(deps, wishes, isContention).catch((error: unknown) => {
        if (!isLockTimeout(error)) throw error;
        return wishes.map((wish) => {
          const answer = queueApart(wish);
          // Its caller hears of a failure; until then it is nobody's.
          answer.catch(() => undefined);
          return { answer };
        });
      }),
  });

  async function queueApart(wish: RelayWish): Promise<QueueAnswer> {
    const { payer } = wish;
    const alone = apart.get(payer) ?? gatherAlone(deps, onFree);
    apart.set(payer, alone);
    return (await alone.submit(wish)).answer;
    function onFree() {
      if (apart.get(payer)?.waiting() === 0) apart.delete(payer);
    }
  }

  return {
    queue: async (wish: RelayWish): Promise<QueueAnswer> =>
      apart.has(wish.payer) ? queueApart(wish) : (await together.submit(wish)).answer,
    /** Resolves when no call is being queued. */
    async idle() {
      await together.idle();
      await Promise.all([...apart.values()].map((alone) => alone.idle()));
    },
  };
}

/** Queues the calls of one payer; `onFree` is called when its rows could be locked again. */
function gatherAlone(deps: QueueRelaysDeps, onFree: () => void): Gatherer {
  // Many processes share a payer's row: waiting for it longer than one lock may take is no fault.
  const isPassing = (error: unknown) => isContention(error) || isLockTimeout(error);
  return createGatherer<RelayWish, Queued>({
    maxItems: deps.batchMax,
    async run(wishes) {
      const queued = await admitTogether(deps, wishes, isPassing);
      onFree();
      return queued;
    },
  });
}

async function admitTogether(
  deps: QueueRelaysDeps,
  wishes: RelayWish[],
  isPassing: (error: unknown) => boolean,
): Promise<Queued[]> {
  const answers = await tryAgain(() => admitOnce(deps, wishes), { ...deps, isPassing });
  return wishes.map((wish) => ({ answer: answers.get(wish.id) as QueueAnswer }));
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const inOrder = (wishes: RelayWish[]) =>
  wishes.toSorted((a, b) => byText(a.payer, b.payer) || byText(a.userAddress, b.userAddress));

type Answers = Map<string, QueueAnswer>;

/** Admits each call once: one that another try of its request has queued meanwhile takes nothing a second time. */
async function admitOnce(deps: QueueRelaysDeps, wishes: RelayWish[]): Promise<Answers> {
  try {
    return await admit(deps, wishes);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    const { db } = deps.database;
    const found = await readRelays(
      db,
      wishes.map(({ id }) => id),
    );
    const there = new Set(found.map(({ id }) => id));
    if (there.size === 0) throw error;
    const answers = await admitOnce(
      deps,
      wishes.filter(({ id }) => !there.has(id)),
    );
    for (const { id, userAddress: subject } of wishes.filter((wish) => there.has(wish.id))) {
      const window = await readWindow(db, { ...deps.userLimit, subject, now: deps.businessTime() });
      answers.set(id, { queued: true, window });
    }
    return answers;
  }
}

/** All budgets first, then all shares, then all windows, each in the same order in every process, so that two processes cannot deadlock. */
async function admit(
  { database, businessTime, userLimit }: QueueRelaysDeps,
  wishes: RelayWish[],
): Promise<Answers> {
  return database.atomically(async (tx) => {
    const answers: Answers = new Map();
    const overBudget = ({ id, budgetDay }: RelayWish, of: 'payer' | 'user') =>
      answers.set(id, { queued: false, reason: 'gas_budget', of, resetAtMs: (budgetDay + 1) * DAY_MS });
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
    const admitted = new Set<string>();
    for (const wish of paid.toSorted((a, b) => byText(a.userAddress, b.userAddress))) {
      const { id, userAddress: subject } = wish;
      const { taken, ...window } = await takeFromWindow(tx, { ...userLimit, subject, now: businessTime() });
      if (taken) {
        admitted.add(id);
        answers.set(id, { queued: true, window });
        continue;
      }
      await giveBackGas(tx, gasOf(wish));
      await giveBackGasShare(tx, gasOf(wish));
      answers.set(id, { queued: false, reason: 'rate_limit', window });
    }
    // In the order in which they came.
    await storeRelays(
      tx,
      wishes.filter(({ id }) => admitted.has(id)).map(({ budgetGwei: _, shareGwei: __, ...relay }) => relay),
    );
    return answers;
  });
}

const gasOf = ({ payer, budgetDay: day, userAddress, reservedGwei: gwei }: RelayWish) => ({
  ...{ payer, day, userAddress, gwei },
});

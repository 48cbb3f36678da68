/** Planted bugs of consumers: effect and position apart, and a reorganisation that nobody hears of. */
import type { Database } from '../../../src/ledger/database/database.ts';
import type { Fault, Plan } from '../simulation/plan.ts';
import { execute, intercept } from '../simulation/sim-ledger.ts';
import { only, replacing } from './breakages.ts';
import type { Mutant } from './parts.ts';

const consuming: Partial<Plan> = {
  consumes: true,
  events: 7,
  relays: 0,
  mints: 0,
  steps: 40,
  faultBudget: 8,
  webhooks: 0,
  perks: { redemptions: 0, stock: 1_000, held: 1_000, others: false, manners: new Map(), unasked: 0 },
};
const crashing: Partial<Plan> = {
  ...consuming,
  rates: new Map<Fault, number>([
    ['crash', 3],
    ['commit refused', 0.1],
    ['kill', 2],
  ]),
};
const reorganising: Partial<Plan> = {
  ...consuming,
  finalityBlocks: 3,
  confirmations: 1,
  rates: new Map<Fault, number>([['reorganisation', 4]]),
};

const MOVE = /^update "consumer_positions" set "position"/;

const LOCK = /^select "position" from "consumer_positions"/;

/** The position is moved in a commit of its own, after the one of the effect. */
const movingLater = (database: Database): Database => ({
  ...database,
  async atomically(work) {
    let move: { text: string; params: unknown[] } | undefined;
    const value = await database.atomically((tx) =>
      work(
        intercept(tx, (run) => async (text, params, method) => {
          if (!MOVE.test(text)) return run(text, params, method);
          move = { text, params };
          return { rows: [] };
        }),
      ),
    );
    const held = move;
    if (held) await database.atomically((tx) => execute(tx, held.text, ...held.params));
    return value;
  },
});

/** The position is moved in a commit of its own, before the one of the effect. */
const movingFirst = (database: Database): Database => ({
  ...database,
  async atomically(work) {
    class Enough extends Error {}
    let move: { text: string; params: unknown[] } | undefined;
    let before: unknown;
    const value = await database
      .atomically(async (tx) => {
        const done = await work(
          intercept(tx, (run) => async (text, params, method) => {
            if (!MOVE.test(text)) {
              const answer = await run(text, params, method);
              if (LOCK.test(text)) before = (answer.rows as unknown[][])[0]?.[0];
              return answer;
            }
            move = { text, params };
            return { rows: [] };
          }),
        );
        if (move) throw new Enough();
        return done;
      })
      .catch((error: unknown) => {
        if (!(error instanceof Enough)) throw error;
        return undefined;
      });
    const held = move;
    if (!held) return value as Awaited<ReturnType<typeof work>>;
    await database.atomically((tx) => execute(tx, held.text, ...held.params));
    // What has moved is where it was, as far as this commit can see.
    return database.atomically((tx) =>
      work(
        intercept(tx, (run) => async (text, params, method) => {
          if (MOVE.test(text)) return { rows: [] };
          const answer = await run(text, params, method);
          if (!LOCK.test(text)) return answer;
          return { ...answer, rows: answer.rows.map(() => [before]) };
        }),
      ),
    );
  },
});

export const consumerBugs: Mutant[] = [
  {
    name: 'effect-without-position',
    circumstances: crashing,
    wire: ({ consumeDatabase }) => ({ consumeDatabase: movingLater(consumeDatabase) }),
  },
  {
    name: 'position-without-effect',
    circumstances: crashing,
    wire: ({ consumeDatabase }) => ({ consumeDatabase: movingFirst(consumeDatabase) }),
  },
  {
    // What is taken back is never read.
    name: 'reorganisation-lost',
    circumstances: reorganising,
    rewrite: only(/^select .* from "feed_take_backs" where/, replacing(' where ', ' where 1 = 0 and ')),
  },
];

/** Planted bugs of recovery: of what the chain has done for a ledger that lost it, something is done again or given to somebody else. */
import type { Rpc } from '../../../src/chain/rpc/rpc.ts';
import type { Database } from '../../../src/ledger/database/database.ts';
import type { Fault, Plan } from '../simulation/plan.ts';
import { changingStatements, intercepting, only } from './breakages.ts';
import type { Mutant } from './parts.ts';

const loss: Plan['loss'] = { fromStep: 4, atStep: 20, showsPool: 'by account', kills: 0, mines: 0 };

/** A ledger that loses most of what it did, while nothing else goes wrong. */
const losing = (more: Partial<Plan>): Partial<Plan> => ({
  events: 7,
  relays: 0,
  mints: 0,
  webhooks: 0,
  steps: 40,
  untilFinal: true,
  loss,
  rates: new Map<Fault, number>(),
  faultBudget: 1,
  statementGate: 0,
  answerGate: 0,
  brisk: 0.9,
  weights: { gate: 2, hurry: 6, submit: 3, turn: 3, follow: 1, mine: 1, tick: 0.5, fault: 0, deposit: 0.1 },
  ...more,
});

/** Loses statements of commits that are about this and name this. */
const without = (database: Database, about: RegExp, named?: string): Database => {
  const losing = intercepting(async (run, text, params, method) =>
    about.test(text) && (named === undefined || params.includes(named))
      ? { rows: [] }
      : run(text, params, method),
  );
  return { ...database, atomically: (work) => database.atomically((tx) => work(losing(tx))) };
};

/** What a block shows under a nonce of a gas wallet is never what was to be sent. */
const withoutLook: Mutant['wire'] = ({ relayChain }) => ({
  relayChain: {
    ...relayChain,
    async transactionsIn(number) {
      const block = await relayChain.transactionsIn(number);
      return block && { ...block, transactions: block.transactions.map((one) => ({ ...one, input: '0x' })) };
    },
  },
});

export const recoveryBugs: Mutant[] = [
  {
    // Sequences go on where the copy ends: somebody else is promised one that was given out.
    name: 'recovered-sequences-again',
    circumstances: losing({}),
    recover: ({ database }) => ({
      database: without(database, /^insert into "counters"/, 'reward_sequence'),
    }),
  },
  {
    // The same with the wallets of users.
    name: 'recovered-wallets-again',
    circumstances: losing({}),
    recover: ({ database }) => ({ database: without(database, /^insert into "counters"/, 'wallet_index') }),
  },
  {
    // What waits in a pool is left out, and its nonces are used for something else.
    name: 'recovered-without-pools',
    circumstances: losing({}),
    recover: () => ({
      nodes: [async (method) => (method === 'eth_getTransactionCount' ? '0x0' : null)],
    }),
  },
  {
    // A pool has something under a nonce of the ledger, and shows nothing: it is believed to be what the ledger has, and
    // its block, which would tell, is not looked at.
    name: 'recovered-without-hidden-offers',
    circumstances: losing({
      events: 0,
      relays: 5,
      relayLimit: 35,
      gasBudgetGwei: 1_000_000_000,
      loss: { ...loss, fromStep: 12, atStep: 24, showsPool: 'not at all' },
      weights: {
        gate: 2,
        hurry: 6,
        submit: 3,
        turn: 3,
        follow: 1,
        mine: 0.3,
        tick: 2,
        fault: 0,
        deposit: 0.1,
      },
    }),
    wire: withoutLook,
    recover: ({ nodes }) => ({
      nodes: nodes.map(
        (node): Rpc =>
          async (method, params) =>
            method === 'eth_getTransactionByHash' ? { hash: params[0] } : node(method, params),
      ),
    }),
  },
  {
    // A reward that waits in the copy is not bound to what has paid it.
    name: 'recovered-payout-queued-again',
    circumstances: losing({}),
    recover: ({ database }) => ({ database: without(database, /^update "rewards" set "transaction_id"/) }),
  },
  {
    // Nor a mint.
    name: 'recovered-mint-made-again',
    circumstances: losing({ mints: 4 }),
    recover: ({ database }) => ({
      database: changingStatements(
        database,
        only(/^update "(?:mints|operator_mints)" set "transaction_id"/, (text) =>
          text.replace(' returning', ' and 1 = 0 returning'),
        ),
      ),
    }),
  },
  {
    // Nor a relayed call.
    name: 'recovered-call-sent-again',
    circumstances: losing({ events: 0, relays: 5, relayLimit: 35, gasBudgetGwei: 1_000_000_000 }),
    recover: ({ database }) => ({
      database: without(database, /^update "relays" set "(?:permit_)?transaction_id"/),
    }),
  },
  {
    // What lost redemptions took of what a brand has paid a user may be collected once more.
    name: 'recovered-redemption-uncounted',
    circumstances: losing({
      users: 1,
      brands: 2,
      rules: [0, 1],
      answerWhen: 'sent',
      perks: {
        redemptions: 8,
        stock: 1_000,
        held: 1_000,
        others: false,
        unasked: 0.8,
        manners: new Map(),
      },
    }),
    rewrite: only(
      /^select .*from "redemptions" left join "transactions".*"redemptions"\."wallet" = /,
      (text) => text.replace('"redemptions"."failure" is null', `"redemptions"."consent" <> 'unknown'`),
    ),
  },
  {
    // Nobody recovers a ledger that has lost a better offer: what a block shows of it is taken for a stranger's.
    name: 'lost-nonce-without-look',
    circumstances: losing({
      events: 0,
      relays: 5,
      relayLimit: 35,
      gasBudgetGwei: 1_000_000_000,
      loss: undefined,
      lostOffers: 1,
      faultBudget: 5,
      weights: {
        gate: 2,
        hurry: 6,
        submit: 3,
        turn: 3,
        follow: 1,
        mine: 0.3,
        tick: 2,
        fault: 0,
        deposit: 0.1,
      },
    }),
    wire: withoutLook,
  },
];

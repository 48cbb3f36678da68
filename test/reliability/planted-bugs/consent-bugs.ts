/** Planted bugs of consent: what a brand may collect on nobody's word, and whose token or permit pays. */
import { USERS } from '../simulation/model/accounts.ts';
import type { Plan } from '../simulation/plan.ts';
import { changingStatements, only, replacing } from './breakages.ts';
import type { Mutant } from './parts.ts';

const PAID = /^select coalesce\(sum\("rewards"\."amount"\), 0\) from "rewards" inner join/;
const COLLECTED = /^select .*from "redemptions" left join "transactions".*"redemptions"\."wallet" = /;

const ample: Plan['perks'] = {
  redemptions: 8,
  stock: 1_000,
  held: 1_000,
  others: false,
  unasked: 0.8,
  manners: new Map(),
};

/** Users are paid little by two brands, and brands ask for it while more is on its way; nothing else goes wrong. */
const grants: Partial<Plan> = {
  events: 7,
  relays: 0,
  mints: 0,
  users: 1,
  brands: 2,
  rules: [0, 1],
  steps: 100,
  untilFinal: true,
  webhooks: 0,
  rates: new Map(),
  faultBudget: 0,
  brisk: 0,
  answerWhen: 'sent',
  weights: { gate: 2, hurry: 6, submit: 1.5, turn: 3, follow: 2, mine: 2, tick: 0.5, fault: 0, deposit: 0.1 },
  perks: ample,
};

export const consentBugs: Mutant[] = [
  {
    // What the brand may collect is looked at before the commit that admits a redemption, and not in it.
    name: 'grant-read-before-commit',
    searchFrom: 100,
    circumstances: grants,
    wire: ({ redeemDatabase }) => ({
      redeemDatabase: changingStatements(
        redeemDatabase,
        only(PAID, replacing('coalesce(sum("rewards"."amount"), 0)', '1000000')),
      ),
    }),
  },
  {
    // What other brands have paid counts as well.
    name: 'grant-of-any-brand',
    circumstances: grants,
    rewrite: only(PAID, replacing(/"rewards"\."brand_id" = \?/, "coalesce(?, '') <> ''")),
  },
  {
    // What perks have taken already counts as there.
    name: 'grant-spent-again',
    circumstances: grants,
    rewrite: only(COLLECTED, replacing(/then "redemptions"\."cost"/, 'then 0')),
  },
  {
    // What came to nothing counts as collected.
    name: 'grant-spent-by-failures',
    circumstances: {
      ...grants,
      perks: { ...ample, manners: new Map([[USERS[0] ?? '0x', 'reverts']]) },
    },
    rewrite: only(COLLECTED, replacing('"redemptions"."failure" is null', '1 = 1')),
  },
  {
    // A permit pays as often as the chain takes it.
    name: 'permit-pays-twice',
    circumstances: { ...grants, perks: { ...ample, unasked: 0 } },
    ddl: 'drop index redemptions_permit;',
    rewrite: only(
      /^select "id" from "redemptions" where .*"permit_id" = \?/,
      replacing(/"redemptions"\."failure" is null/, '1 = 0'),
    ),
  },
  {
    // Any user's token is a token of the user who is named.
    name: 'token-of-anybody',
    wire: ({ askerOf }) => ({
      askerOf: (word, user) => askerOf(word.by === 'token' ? { ...word, of: user } : word, user),
    }),
  },
];

/** Planted bugs of consent: what a brand may collect on nobody's word, and whose token or permit pays. */
import type { Plan } from '../simulation/plan.ts';
import { changingStatements, only, replacing } from './breakages.ts';
import type { Mutant } from './parts.ts';

const PAID = /^select coalesce\(sum\("rewards"\."amount"\), 0\) from "rewards" inner join/;
const COLLECTED = /^select .*from "redemptions" left join "transactions".*"redemptions"\."wallet" = /;

/** Users are paid little by two brands, and brands ask for what they paid at once. */
const grants: Partial<Plan> = {
  ...{ events: 7, relays: 0, users: 1, steps: 40, brands: 2, rules: [0, 1], untilFinal: true },
  perks: {
    ...{ redemptions: 5, stock: 1_000, held: 1_000, others: false, unasked: 0.8 },
    manners: new Map(),
  },
};

export const consentBugs: Mutant[] = [
  {
    // What the brand may collect is looked at before the commit that admits a redemption, and not in it.
    name: 'grant-read-before-commit',
    circumstances: { ...grants, replicas: 2, skewMs: [0, 0] },
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
    // What is only on its way counts as paid.
    name: 'grant-before-it-is-paid',
    circumstances: grants,
    rewrite: only(PAID, (text) =>
      text
        .replace('inner join "transactions"', 'left join "transactions"')
        .replace(/"transactions"\."status" in \(\?, \?\)/, 'coalesce(?, ?) is not null')
        .replace(/"transactions"\."outcome" = \?/, 'coalesce(?, 0) is not null'),
    ),
  },
  {
    // What came to nothing counts as collected.
    name: 'grant-spent-by-failures',
    circumstances: {
      ...grants,
      perks: {
        ...{ redemptions: 5, stock: 1_000, held: 1_000, others: false, unasked: 0.8 },
        manners: new Map([['0x0000000000000000000000000000000000005e01', 'reverts']]),
      },
    },
    rewrite: only(COLLECTED, replacing('"redemptions"."failure" is null', '1 = 1')),
  },
  {
    // A permit pays as often as the chain takes it.
    name: 'permit-pays-twice',
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

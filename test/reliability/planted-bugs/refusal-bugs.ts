/** Planted bugs of redemptions that are refused: by the code of their user's wallet, and by our contracts. */
import type { Rpc } from '../../../src/chain/rpc/rpc.ts';
import { USERS } from '../simulation/model/accounts.ts';
import type { Manner } from '../simulation/model/model-perks.ts';
import type { Plan } from '../simulation/plan.ts';
import { only, replacing } from './breakages.ts';
import type { Mutant } from './parts.ts';

/** Redemptions of one user in this manner, beside those of another. */
const beside = (manner: Manner, more: Partial<Plan['perks']> = {}): Partial<Plan> => ({
  storeMax: 1,
  untilFinal: true,
  webhooks: 0,
  perks: {
    redemptions: 5,
    stock: 1_000,
    held: 1_000,
    others: false,
    unasked: 0,
    manners: new Map([[USERS[0] ?? '0x', manner]]),
    ...more,
  },
});

const EXPIRES = /^update "redemptions" set "failure" = .*"waiting_since"/;

/** Trials in which the wallet keeps its code. */
const withCode =
  (rpc: Rpc): Rpc =>
  (method, params) => {
    if (method !== 'eth_simulateV1') return rpc(method, params);
    const [{ blockStateCalls, ...of }, ...rest] = params as [{ blockStateCalls: object[] }];
    const kept = blockStateCalls.map((block) => ({ ...block, stateOverrides: undefined }));
    return rpc(method, [{ ...of, blockStateCalls: kept }, ...rest]);
  };

export const refusalBugs: Mutant[] = [
  {
    // Whatever a wallet's code says counts as said by our contracts: its redemption waits, until it is too old.
    name: 'buyers-code-believed',
    circumstances: beside('reverts'),
    wire: ({ trialRpc }) => ({ trialRpc: withCode(trialRpc) }),
  },
  {
    // A redemption that is refused stays first of its window.
    name: 'refused-row-in-the-way',
    circumstances: beside('refused by us'),
    rewrite: only(/^update "redemptions" set "refusals"/, (text) => `${text} and 1 = 0`),
  },
  {
    // A redemption that was refused keeps its stock and its RWT.
    name: 'refused-row-keeps-stock',
    circumstances: beside('reverts', { stock: 2, held: 25 }),
    rewrite: only(
      /^select .*from "redemptions" left join "transactions".*"shown_from" > /,
      replacing('"redemptions"."failure" is null', '1 = 1'),
    ),
  },
  {
    // A redemption that is refused waits for ever.
    name: 'refused-row-waits-for-ever',
    circumstances: beside('refused by us'),
    rewrite: only(EXPIRES, (text) => text.replace(' returning', ' and 1 = 0 returning')),
  },
  {
    // A redemption is too old as soon as it waits.
    name: 'given-up-too-soon',
    circumstances: beside('refused by us'),
    rewrite: only(EXPIRES, replacing(/- cast\(\? as bigint\)/, '- 0 * ?')),
  },
];

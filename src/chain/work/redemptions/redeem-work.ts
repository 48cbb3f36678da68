/** The work of the redeem lane: one redemption, or terms of one perk, a transaction, each tried out before it is signed. */

import { settleTerms } from '../../../ledger/perks/perk-terms.ts';
import {
  bindRedemption,
  giveUpRedemption,
  settleRedemptionQueue,
  waitingRedemptions,
} from '../../../ledger/perks/redemption-queue.ts';
import type { Settle } from '../../../ledger/transactions/settle.ts';
import { redemptionCall } from '../../contracts/calls/perk-redemption.ts';
import { type TriedQueue, type TriedWork, type TriedWorkDeps, triedWork } from '../tried-work.ts';
import { isTermsKey, perkTermsQueue } from './perk-terms-work.ts';

type Hex = `0x${string}`;

/** What the contracts say of a redemption that its user cannot have now; the user is told, and may ask again. */
const NEVER_RUNS =
  /^(?:Perk(?:NotActive|SoldOut)|PriceAboveMaximum|KeyUsedInEscrow|SelfCollect|ERC20Insufficient|ERC(?:20|1155)Invalid)/;

const redemptionQueue = (perks: Hex): TriedQueue => ({
  async waiting(db, limit) {
    const redemptions = await waitingRedemptions(db, limit);
    return redemptions.map((one) => ({
      ...{ key: one.key, to: perks },
      ...redemptionCall(one),
    }));
  },
  bind: bindRedemption,
  giveUp: giveUpRedemption,
  neverRuns: (reason) => NEVER_RUNS.test(reason),
  alarms: { refused: 'redemption_refused' },
  what: () => 'redemption',
});

export const redeemWork = (deps: Omit<TriedWorkDeps, 'queue'> & { perks: Hex }): TriedWork =>
  triedWork({ ...deps, queue: laneQueue(deps) });

/** Terms of perks first: a redemption may be waiting for what they allow. */
function laneQueue({ database, perks }: Pick<TriedWorkDeps, 'database'> & { perks: Hex }): TriedQueue {
  const [terms, redemptions] = [perkTermsQueue({ database, perks }), redemptionQueue(perks)];
  const queueOf = (key: Hex) => (isTermsKey(key) ? terms : redemptions);
  return {
    async waiting(db, limit) {
      const first = await terms.waiting(db, limit);
      const rest = limit - first.length;
      return rest > 0 ? [...first, ...(await redemptions.waiting(db, rest))] : first;
    },
    bind: (tx, bound) => queueOf(bound.key).bind(tx, bound),
    giveUp: (db, given) => queueOf(given.key).giveUp(db, given),
    neverRuns: (reason) => terms.neverRuns(reason) || redemptions.neverRuns(reason),
    alarms: redemptions.alarms,
    what: (key) => (isTermsKey(key) ? 'perkTerms' : 'redemption'),
  };
}

/**
 * A redemption whose transaction did nothing is over: its user was told so, and what was kept for it is free again. Terms
 * whose transaction did nothing wait again.
 */
export const settleRedemptions: Settle = async (tx, { transactions, nowMs }) => {
  await settleRedemptionQueue(tx, { transactions, nowMs });
  await settleTerms(
    tx,
    transactions.flatMap(({ id, outcome }) => (outcome === 'done' ? [] : id)),
  );
};

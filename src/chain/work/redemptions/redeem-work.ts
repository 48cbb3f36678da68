/** The work of the redeem lane: one redemption a transaction, each tried out before it is signed, and settled by its block. */
import {
  bindRedemption,
  giveUpRedemption,
  settleRedemptionQueue,
  waitingRedemptions,
} from '../../../ledger/perks/redemption-queue.ts';
import type { Settle } from '../../../ledger/transactions/settle.ts';
import { REDEMPTION_GAS_LIMIT, redemptionData } from '../../contracts/calls/perk-redemption.ts';
import { type TriedQueue, type TriedWork, type TriedWorkDeps, triedWork } from '../tried-work.ts';

type Hex = `0x${string}`;

/** What the contracts say of a redemption that its user cannot have now; the user is told, and may ask again. */
const NEVER_RUNS =
  /^(?:Perk(?:NotActive|SoldOut)|PriceAboveMaximum|KeyUsedInEscrow|SelfCollect|ERC20Insufficient|ERC(?:20|1155)Invalid)/;

const redemptionQueue = (perks: Hex): TriedQueue => ({
  async waiting(db, limit) {
    const redemptions = await waitingRedemptions(db, limit);
    return redemptions.map((one) => ({
      ...{ key: one.key, to: perks, data: redemptionData(one) },
      gas: REDEMPTION_GAS_LIMIT,
    }));
  },
  bind: bindRedemption,
  giveUp: giveUpRedemption,
  neverRuns: (reason) => NEVER_RUNS.test(reason),
  alarms: { refused: 'redemption_refused' },
  what: 'redemption',
});

export const redeemWork = (deps: Omit<TriedWorkDeps, 'queue'> & { perks: Hex }): TriedWork =>
  triedWork({ ...deps, queue: redemptionQueue(deps.perks) });

/** A redemption whose transaction did nothing is over: its user was told so, and what was kept for it is free again. */
export const settleRedemptions: Settle = (tx, { transactions, nowMs }) =>
  settleRedemptionQueue(tx, { transactions, nowMs });

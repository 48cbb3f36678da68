/** The work of the redeem lane: one redemption, or terms of one perk, a transaction, each tried out before it is signed. */

import { settleTerms } from '../../../ledger/perks/perk-terms.ts';
import {
  bindRedemption,
  firstRefusedRedemption,
  giveUpRedemption,
  noteRefusedRedemption,
  postponeRedemption,
  settleRedemptionQueue,
  waitingRedemptions,
} from '../../../ledger/perks/redemption-queue.ts';
import type { Settle } from '../../../ledger/transactions/settle.ts';
import type { Hex } from '../../../lib/hex.ts';
import { redemptionCall } from '../../contracts/calls/perk-redemption.ts';
import {
  type SimulatedQueue,
  type SimulatedWork,
  type SimulatedWorkDeps,
  simulatedWork,
} from '../simulated-work.ts';
import { isTermsKey, perkTermsQueue } from './perk-terms-work.ts';

interface RedeemWorkDeps extends Omit<SimulatedWorkDeps, 'queue'> {
  perks: Hex;
  /** All our contracts, in any case: none of them is a user whose code may refuse a perk. */
  contracts: readonly Hex[];
}

/**
 * What the contracts say of a redemption that its user cannot have now; the user is told, and may ask again. Every other
 * error of theirs waits: an admin grants a role, and a cap of an hour is over with the hour.
 */
const NEVER_RUNS: ReadonlySet<string> = new Set([
  'PerkNotActive',
  'PerkSoldOut',
  'PriceAboveMaximum',
  'KeyUsedInEscrow',
  'SelfCollect',
  'ERC20InsufficientBalance',
  'ERC20InsufficientAllowance',
  'ERC20InvalidSender',
  'ERC20InvalidReceiver',
  'ERC1155InvalidReceiver',
]);

function redemptionQueue({ perks, contracts }: Pick<RedeemWorkDeps, 'perks' | 'contracts'>): SimulatedQueue {
  const ours = new Set(contracts.map((address) => address.toLowerCase()));
  return {
    async waiting(db, window) {
      const redemptions = await waitingRedemptions(db, window);
      return redemptions.map((one) => ({
        key: one.key,
        to: perks,
        ...redemptionCall(one),
        receiver: ours.has(one.wallet.toLowerCase()) ? undefined : one.wallet,
      }));
    },
    bind: bindRedemption,
    giveUp: giveUpRedemption,
    noteRefused: noteRefusedRedemption,
    postpone: postponeRedemption,
    firstRefused: firstRefusedRedemption,
    neverRuns: (_, error) => NEVER_RUNS.has(error),
    alarms: { refused: 'redemption_refused' },
    what: () => 'redemption',
  };
}

export const redeemWork = (deps: RedeemWorkDeps): SimulatedWork =>
  simulatedWork({ ...deps, queue: laneQueue(deps) });

/** Terms of perks first: a redemption may be waiting for what they allow. Where both are many, each has half of the window. */
function laneQueue({ database, ...of }: RedeemWorkDeps): SimulatedQueue {
  const terms = perkTermsQueue({ database, perks: of.perks });
  const redemptions = redemptionQueue(of);
  const queueOf = (key: Hex) => (isTermsKey(key) ? terms : redemptions);
  return {
    async waiting(db, { now, limit }) {
      const told = await terms.waiting(db, { now, limit });
      const half = Math.ceil(limit / 2);
      const asked = await redemptions.waiting(db, { now, limit: limit - Math.min(told.length, half) });
      return [...told.slice(0, limit - asked.length), ...asked];
    },
    bind: (tx, bound) => queueOf(bound.key).bind(tx, bound),
    giveUp: (db, given) => queueOf(given.key).giveUp(db, given),
    noteRefused: (db, refusal) => queueOf(refusal.key).noteRefused(db, refusal),
    postpone: (db, postponed) => queueOf(postponed.key).postpone(db, postponed),
    firstRefused: async (db) => (await terms.firstRefused(db)) ?? (await redemptions.firstRefused(db)),
    neverRuns: (key, error) => queueOf(key).neverRuns(key, error),
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

/** The redeem lane and its work: one redemption, or terms of one perk, a transaction, each tried out before it is signed. */

import type { Database } from '../../ledger/database/database.ts';
import { settleTerms } from '../../ledger/perks/perk-terms.ts';
import {
  bindRedemption,
  firstRefusedRedemption,
  giveUpExpired,
  giveUpRedemption,
  noteRefusedRedemption,
  postponeRedemption,
  settleRedemptionQueue,
  waitingRedemptions,
} from '../../ledger/perks/redemption-queue.ts';
import type { Settle } from '../../ledger/transactions/settle.ts';
import type { Hex } from '../../lib/hex.ts';
import type { Log } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';
import { redemptionCall } from '../contracts/calls/perk-calls.ts';
import { isTermsKey, perkTermsQueue } from './perk-terms-work.ts';
import {
  createTriedLane,
  type SimulatedQueue,
  type SimulatedWork,
  type SimulatedWorkDeps,
  simulatedWork,
  type TriedLaneDeps,
} from './simulated-work.ts';

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

/** The redeem lane: perks for users' RWT. */
export const createRedemptions = (
  deps: TriedLaneDeps & { perks: `0x${string}`; contracts: readonly `0x${string}`[] },
) =>
  createTriedLane(deps, {
    name: 'redemptions',
    purpose: 'redeem',
    workOf: (of) => redeemWork({ ...of, perks: deps.perks, contracts: deps.contracts }),
  });

// Gives up redemptions that no transaction carries in time, whichever process has the key that sends them.

/** Redemptions that one line of the log names. */
const NAMED_MAX = 10;

export interface GiveUpSettings {
  /** How long a redemption waits for a transaction at most, by the ledger's clock. */
  giveUpAfterMs: number;
  giveUpLookMs: number;
}

/** What was kept for them is free again, and their callers are told. */
export const giveUpLateRedemptions = ({
  database,
  settings,
  onGivenUp,
  log,
}: {
  database: Database;
  settings: GiveUpSettings;
  onGivenUp: () => void;
  log: Log;
}) =>
  createLoop({
    name: 'late redemptions',
    async turn() {
      const ids = await giveUpExpired(database.db, { now: database.now, afterMs: settings.giveUpAfterMs });
      if (ids.length > 0) {
        const named = { redemptions: ids.slice(0, NAMED_MAX).join(' '), count: ids.length };
        log.warn(named, 'no transaction carried redemptions in time; they are given up');
        onGivenUp();
      }
      return 'idle';
    },
    pauseMs: () => settings.giveUpLookMs,
    log,
  });

/** What one seed is made of: how many of everything, which faults there are and how often each strikes. */

import type { Hex } from 'viem';
import {
  consumerCrashPoints,
  crashPoints,
  redemptionCrashPoints,
  webhookCrashPoints,
} from '../../../src/lib/crash-points.ts';
import type { Chance } from './chance.ts';
import { USERS } from './model/accounts.ts';
import { type Family, families, type NodeFault, type PoolView, poolViews } from './model/model-node.ts';
import { type Manner, manners } from './model/model-perks.ts';

export type CommitFault = 'commit refused' | 'commit lost' | 'commit contended';
/** Crash: at a crash point · kill: between two steps · pause: longer than a lease · clock jump: of one machine's clock. */
export type WorldFault =
  | 'crash'
  | 'kill'
  | 'pause'
  | 'clock jump'
  | 'reorganisation'
  | 'pool drop'
  | 'base fee'
  | 'foreign use'
  | 'withdrawal'
  | 'foreign logs'
  | 'revert'
  | 'caller gone'
  | 'ledger lost'
  | 'offer lost';
export type Fault = NodeFault | CommitFault | WorldFault;

/** Chance of a fault at each of its occasions, when the seed has it at all: low, middle, high. */
const RATES: Record<Exclude<Fault, 'ledger lost' | 'offer lost'>, readonly [number, number, number]> = {
  'lost request': [0.02, 0.06, 0.2],
  'lost answer': [0.02, 0.06, 0.2],
  'refused 429': [0.01, 0.03, 0.1],
  'refused 503': [0.01, 0.03, 0.1],
  garbage: [0.01, 0.03, 0.1],
  'stale read': [0.02, 0.1, 0.4],
  'sent twice': [0.05, 0.2, 0.5],
  'sent again later': [0.05, 0.2, 0.5],
  'pool full': [0.05, 0.1, 0.3],
  'too large': [0.1, 0.3, 0.7],
  'no gas money': [0.05, 0.1, 0.3],
  'commit refused': [0.01, 0.03, 0.1],
  'commit lost': [0.01, 0.04, 0.15],
  'commit contended': [0.02, 0.05, 0.2],
  crash: [1, 2, 3],
  kill: [0.5, 1, 2],
  pause: [0.5, 1, 2],
  'clock jump': [0.5, 1, 2],
  reorganisation: [1, 2, 4],
  'pool drop': [0.5, 1, 3],
  'base fee': [0.5, 1, 3],
  'foreign use': [0.3, 0.6, 1],
  withdrawal: [0.3, 0.6, 1],
  'foreign logs': [0.3, 0.6, 1],
  revert: [0.3, 0.6, 0.9],
  'caller gone': [0.3, 1, 2],
};
const ratedFaults = Object.keys(RATES) as (keyof typeof RATES)[];
export const faultNames: Fault[] = [...ratedFaults, 'ledger lost', 'offer lost'];

/** Where a process may end: production's own points on the way of a reward, and both sides of every commit. */
export const simCrashPoints: string[] = [...crashPoints, 'commit.before', 'commit.after'];

/** The same for seeds with redemptions. */
export const redeemingCrashPoints: string[] = [...simCrashPoints, ...redemptionCrashPoints];

/** The same for seeds with consumers. */
export const consumingCrashPoints: string[] = [...simCrashPoints, ...consumerCrashPoints];

/** The same for seeds with webhooks. */
export const tellingCrashPoints: string[] = [...simCrashPoints, ...webhookCrashPoints];

/** Weights of what the scheduler does next. */
export interface Weights {
  /** A single call goes on. */
  gate: number;
  /** A process goes on until it has nothing to do. */
  hurry: number;
  submit: number;
  turn: number;
  follow: number;
  mine: number;
  tick: number;
  fault: number;
  deposit: number;
}

export interface Plan {
  replicas: number;
  /** How far the clock of each replica's machine is off at first. */
  skewMs: number[];
  events: number;
  /** Relayed calls; a seed has events, calls, or both. */
  relays: number;
  /** Paid sessions, each with several callers; 0 in most seeds. */
  mints: number;
  /** Redemptions of the perk, and what there is of it and of RWT; none in most seeds. */
  perks: PerkPlan;
  /** What a brand is to be told, and how often its receiver fails; nothing in most seeds. */
  webhooks: number;
  webhookFailures: number;
  /** The ledger loses its last commits; undefined in most seeds. */
  loss: LossPlan | undefined;
  /** How often the commit of a better offer is lost once a node has the offer, without a recovery; never in most seeds. */
  lostOffers: number;
  /** What follows from payouts is drawn from the feed, and judged. */
  consumes: boolean;
  /** Share of calls with a permit before them. */
  permits: number;
  /** Native currency that gas wallets ask for. */
  topUps: number;
  /** What a user may send in a window. */
  relayLimit: number;
  /** What a payer may spend on gas; a user may spend a part of it. */
  gasBudgetGwei: number;
  /** Relayed calls, permits and top-ups stored in one commit. */
  storeMax: number;
  users: number;
  brands: number;
  /** Places in the list of rules. */
  rules: number[];
  steps: number;
  /** Whether it goes on, without faults, until everything is final, or ends when everything is in a block. */
  untilFinal: boolean;
  faultBudget: number;
  rates: Map<Fault, number>;
  weights: Weights;
  confirmations: number;
  finalityBlocks: number;
  batchMax: number;
  inFlightMax: number;
  family: Family;
  answerWhen: 'sent' | 'included';
  /** How often a turn that begins goes on to its end at once. */
  brisk: number;
  /** Share of requests with an idempotency key. */
  keyed: number;
  /** How often a call stops after its effect too, and before single statements. */
  answerGate: number;
  statementGate: number;
}

/** From what NTP leaves over to a clock that nobody ever set. */
const SKEWS_MS = [300, 4_000, 40_000, 600_000];

export const drawMints = (chance: Chance): number => (chance.hit(0.3) ? chance.between(1, 4) : 0);

export const drawConsumers = (chance: Chance): boolean => chance.hit(0.3);

interface PerkPlan {
  redemptions: number;
  stock: number;
  /** RWT of each user. */
  held: number;
  /** Perks are sold, and RWT sent away, past the service. */
  others: boolean;
  /** What wallets of users do that are not like others. */
  manners: ReadonlyMap<Hex, Manner>;
  /** Share of redemptions that nobody but the brand asks for. */
  unasked: number;
}

export const drawPerks = (chance: Chance): PerkPlan =>
  chance.hit(0.25)
    ? {
        redemptions: chance.between(2, 5),
        stock: chance.one([1, 2, 1_000]),
        held: chance.one([10, 15, 25, 1_000]),
        others: chance.hit(0.3),
        manners: new Map(chance.hit(0.5) ? [[chance.one(USERS), chance.one(manners)]] : []),
        unasked: chance.one([0, 0.4, 0.8]),
      }
    : { redemptions: 0, stock: 1_000, held: 1_000, others: false, manners: new Map(), unasked: 0 };

export interface LossPlan {
  /** What was committed between these steps is gone at the end of the second one. */
  fromStep: number;
  atStep: number;
  /** How the nodes that the recovery asks show what waits. */
  showsPool: PoolView;
  /** How often the recovery is killed half-way. */
  kills: number;
  /** How often a block comes while the recovery asks a node. */
  mines: number;
}

/** Late in a run, so that there is something to lose. */
export const drawLoss = (chance: Chance, steps: number): LossPlan | undefined => {
  if (!chance.hit(LOSSES)) return undefined;
  const atStep = chance.between(Math.floor(steps / 2), steps - 1);
  return {
    atStep,
    fromStep: Math.max(1, atStep - chance.one([2, 5, 10, 20])),
    showsPool: chance.one(poolViews),
    kills: chance.one([0, 0, 1, 2]),
    mines: chance.one([0, 0, 0.03]),
  };
};
/** Share of seeds whose ledger is lost. */
const LOSSES = 0.08;

export const drawLostOffers = (chance: Chance): number => (chance.hit(0.15) ? chance.one([0.5, 1]) : 0);

/** Clocks that are hours and days off. */
const WRONG_CLOCKS_MS = [0, 3 * 3_600_000, -3 * 3_600_000, 26 * 3_600_000, -26 * 3_600_000];

/** Seeds with webhooks have clocks that are wrong, long pauses, and no redemptions, which would grow too old in them. */
export const drawWebhooks = (chance: Chance, replicas: number): Partial<Plan> =>
  chance.hit(0.15)
    ? {
        webhooks: chance.between(2, 5),
        webhookFailures: chance.one([0, 0.4, 0.8]),
        skewMs: Array.from({ length: replicas }, () => chance.one(WRONG_CLOCKS_MS)),
        perks: { redemptions: 0, stock: 1_000, held: 1_000, others: false, manners: new Map(), unasked: 0 },
      }
    : {};

export function drawPlan(
  chance: Chance,
): Omit<Plan, 'mints' | 'perks' | 'webhooks' | 'webhookFailures' | 'loss' | 'lostOffers' | 'consumes'> {
  const replicas = chance.hit(0.5) ? 2 : 1;
  const skewed = chance.hit(0.3);
  const rates = new Map<Fault, number>();
  // A seed has only some of the faults: what always happens together hides what happens alone.
  const share = chance.one([0, 0.2, 0.4, 0.7]);
  for (const fault of ratedFaults) if (chance.hit(share)) rates.set(fault, chance.one(RATES[fault]));
  const work = chance.one(['events', 'events', 'events', 'calls', 'both']);
  const rules = [0, 1, 2, 3, 4].filter(() => chance.hit(0.5));
  return {
    replicas,
    skewMs: Array.from({ length: replicas }, () => (skewed ? chance.one(SKEWS_MS) * chance.one([1, -1]) : 0)),
    events: work === 'calls' ? 0 : chance.between(2, 7),
    relays: work === 'events' ? 0 : chance.between(2, 5),
    permits: chance.one([0, 0.4, 1]),
    topUps: work === 'events' ? 0 : chance.one([0, 0, 2]),
    relayLimit: chance.one([1, 2, 35]),
    gasBudgetGwei: chance.one([2_000_000, 6_000_000, 1_000_000_000]),
    storeMax: chance.one([1, 3]),
    users: chance.between(1, 3),
    brands: chance.between(1, 2),
    rules: rules.length === 0 ? [0] : rules,
    steps: chance.one([10, 20, 40]),
    untilFinal: chance.hit(0.5),
    faultBudget: chance.between(1, 8),
    rates,
    weights: {
      gate: chance.one([2, 6, 12]),
      hurry: chance.one([0, 1, 3, 6]),
      submit: chance.one([1, 2, 4]),
      turn: chance.one([1, 2, 3]),
      follow: chance.one([0.5, 1, 2]),
      mine: chance.one([0.5, 1, 2]),
      tick: chance.one([0.5, 1, 2]),
      fault: chance.one([0.5, 1, 2]),
      deposit: 0.1,
    },
    confirmations: chance.one([1, 1, 1, 2]),
    finalityBlocks: chance.one([1, 2, 2, 3]),
    batchMax: chance.one([1, 2, 4]),
    inFlightMax: chance.one([1, 3, 8]),
    family: chance.one(families),
    answerWhen: chance.hit(0.7) ? 'sent' : 'included',
    brisk: chance.one([0, 0.6, 0.9]),
    keyed: chance.one([0, 0.3, 1]),
    answerGate: chance.one([0, 0, 0.3, 1]),
    statementGate: chance.one([0, 0, 0.3]),
  };
}

/** Everything that one run has: its chance, its time, the chain, the ledger, the processes, and the record of what happened. */
import type { Random } from '../../../src/lib/ids.ts';
import type { Mutant } from '../planted-bugs/parts.ts';
import type { Request } from './callers/event-callers.ts';
import type { MintRequest } from './callers/mint-callers.ts';
import type { RedemptionRequest } from './callers/redemption-callers.ts';
import type { RelayRequest } from './callers/relay-callers.ts';
import { type Chance, createChance } from './chance.ts';
import { type SentNonces, type TakenBytes, watchArrivals } from './checks/arrivals.ts';
import { createFindings, type Findings } from './findings.ts';
import { type LostRows, noLoss } from './losing.ts';
import { USERS } from './model/accounts.ts';
import { createModelChain, type ModelChain } from './model/model-chain.ts';
import { createModelNode } from './model/model-node.ts';
import {
  drawConsumers,
  drawLoss,
  drawLostOffers,
  drawMints,
  drawPerks,
  drawPlan,
  drawWebhooks,
  type Fault,
  type Plan,
} from './plan.ts';
import type { Replica } from './replica.ts';
import type { SimLedger } from './sim-ledger.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A call that waits for the scheduler. */
export interface Gate {
  replica: Replica;
  label: string;
  open: () => void;
}

export interface World {
  chance: Chance;
  time: VirtualTime;
  plan: Plan;
  mutant: Mutant;
  chain: ModelChain;
  node: ReturnType<typeof createModelNode>;
  ledger: SimLedger;
  random: Random;
  findings: Findings;
  gates: Gate[];
  replicas: Replica[];
  /** How far the clock of each replica's machine is off now. */
  skewMs: number[];
  requests: Request[];
  relayRequests: RelayRequest[];
  mintRequests: MintRequest[];
  redemptionRequests: RedemptionRequest[];
  topUps: number;
  /** Events that brands are told of so far; those that arrived, and those of posts that failed. */
  told: number;
  arrived: Set<string>;
  failedPosts: string[];
  /** From which confirmation codes are made. */
  codes: number;
  /** The newest try under each idempotency key. */
  claims: Map<string, { atMs: number; isOver: boolean }>;
  /** What entered any node's pool, by nonce. */
  sent: SentNonces;
  taken: TakenBytes;
  /** Hashes of attempts in commits that were made. */
  stored: Set<string>;
  /** What chance decides of a loss and of the recovery from it. */
  lossChance: Chance;
  lost: LostRows;
  /** What chance decides of single offers, and the hashes of those whose commits were lost. */
  offerChance: Chance;
  lostOffers: Set<string>;
  /** Nodes that are behind are of no use to a recovery: its operator asks one that is not. */
  isRecovering: boolean;
  /** The newest block whose payouts some process has read; undefined once it was taken back. */
  readPayouts: number | undefined;
  /** No more faults from here on. */
  calm: boolean;
  strikes(fault: Fault): boolean;
  /** Like `strikes` for a fault that was chosen already: only asks whether the seed may have another. */
  strikesNow(fault: Fault): boolean;
  /** Counts a fault that was done by other means. */
  struck(fault: Fault, detail?: string): void;
  /** Counts a crash point that was reached. */
  passed(point: string): void;
  note(text: string): void;
}

/** Counts over many runs. */
export interface Tally {
  faults: Map<string, number>;
  /** Crash points that were passed, and those at which a process ended. */
  points: Map<string, number>;
  crashes: Map<string, number>;
}

export const emptyTally = (): Tally => ({ faults: new Map(), points: new Map(), crashes: new Map() });

export interface WorldOptions {
  seed: number;
  time: VirtualTime;
  ledger: SimLedger;
  mutant: Mutant;
  tally: Tally;
  trace?: string[] | undefined;
}

/** Mints, redemptions, losses and the like have chances of their own, so that seeds without them run as they always did. */
const MINT_SEEDS = 1_000_000_007;
const PERK_SEEDS = 2_000_000_011;
const WEBHOOK_SEEDS = 3_000_000_019;
const LOSS_SEEDS = 1_500_000_041;
const CONSUMER_SEEDS = 4_000_000_007;
const OFFER_SEEDS = 2_500_000_033;
const START_MS = 1_800_000_000_000;
const GWEI = 10n ** 9n;

export const count = (counts: Map<string, number>, name: string) =>
  counts.set(name, (counts.get(name) ?? 0) + 1);

export function createWorld({ seed, time, ledger, mutant, tally, trace }: WorldOptions): World {
  const chance = createChance(seed);
  time.reset(START_MS);
  const drawn = drawPlan(chance);
  const lossChance = createChance(seed + LOSS_SEEDS);
  const offerChance = createChance(seed + OFFER_SEEDS);
  const plan: Plan = {
    ...drawn,
    webhooks: 0,
    webhookFailures: 0,
    loss: drawLoss(lossChance, drawn.steps),
    lostOffers: drawLostOffers(offerChance),
    mints: drawMints(createChance(seed + MINT_SEEDS)),
    perks: drawPerks(createChance(seed + PERK_SEEDS)),
    ...drawWebhooks(createChance(seed + WEBHOOK_SEEDS), drawn.replicas),
    consumes: drawConsumers(createChance(seed + CONSUMER_SEEDS)),
    ...mutant.circumstances,
  };
  // A recovery is judged by what the ledger lost all at once.
  if (plan.loss) plan.lostOffers = 0;
  const { stock, held } = plan.perks;
  const chain = createModelChain({
    now: time.now,
    bitmap: mutant.bitmap ?? true,
    baseFeeWei: 10n * GWEI,
    perks: { stock, held: new Map(USERS.map((wallet) => [wallet, held])) },
    manners: plan.perks.manners,
  });
  const findings = createFindings();
  let left = plan.faultBudget;
  let ids = 0;
  const strikes = (fault: Fault) => {
    const rate = plan.rates.get(fault);
    if (world.isRecovering && fault === 'stale read') return false;
    if (world.calm || left <= 0 || rate === undefined || !chance.hit(rate)) return false;
    struck(fault);
    return true;
  };
  const strikesNow = (fault: Fault) => {
    if (left <= 0) return false;
    struck(fault);
    return true;
  };
  const struck = (fault: Fault, detail?: string) => {
    left -= 1;
    count(tally.faults, fault);
    if (fault === 'crash' && detail) count(tally.crashes, detail);
    world.note(`fault: ${fault}${detail ? ` (${detail})` : ''}`);
  };
  const { sent, taken, onArrival, onTaken } = watchArrivals({ ledger, findings });
  const { family } = plan;
  const { manners } = plan.perks;
  const node = createModelNode({
    chain,
    chance,
    family,
    manners,
    strikes,
    onArrival,
    onTaken,
    showsPool: plan.loss?.showsPool ?? 'not at all',
  });
  const random: Random = {
    uuid: () => `00000000-0000-7000-8000-${(++ids).toString(16).padStart(12, '0')}`,
    digits: (count) => '0'.repeat(count),
    bytes: (length) => new Uint8Array(length),
  };
  const world: World = {
    chance,
    time,
    plan,
    mutant,
    chain,
    node,
    ledger,
    random,
    findings,
    gates: [],
    replicas: [],
    skewMs: [...plan.skewMs],
    requests: [],
    relayRequests: [],
    mintRequests: [],
    redemptionRequests: [],
    topUps: 0,
    told: 0,
    arrived: new Set(),
    failedPosts: [],
    codes: 0,
    claims: new Map(),
    sent,
    taken,
    stored: new Set(),
    lossChance,
    lost: noLoss(),
    offerChance,
    lostOffers: new Set(),
    isRecovering: false,
    readPayouts: undefined,
    calm: false,
    strikes,
    strikesNow,
    struck,
    passed: (point) => void count(tally.points, point),
    note: trace
      ? (text) => void trace.push(`${String(time.now() - START_MS).padStart(7)} ${text}`)
      : () => {},
  };
  return world;
}

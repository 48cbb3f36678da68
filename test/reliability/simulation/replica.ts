/** One process of the service: production's submitter, relay, lanes, follower and progress boards, stopped at every call to the outside. */
import { createEventSubmitter, type SubmitEventsDeps } from '../../../src/actions/events/batch-events.ts';
import { createAlarms } from '../../../src/chain/alarms.ts';
import { createLateBooking } from '../../../src/chain/indexer/book-late.ts';
import { createFollower } from '../../../src/chain/indexer/indexer.ts';
import type { FollowDeps } from '../../../src/chain/indexer/types.ts';
import { createLane } from '../../../src/chain/lane/lane.ts';
import { createChainClient } from '../../../src/chain/rpc/client.ts';
import {
  type Rpc,
  RpcAnswerError,
  RpcTooLargeError,
  RpcUnreachableError,
} from '../../../src/chain/rpc/rpc.ts';
import { createRewardWaiters } from '../../../src/chain/waiting/reward-waiters.ts';
import { payoutWork } from '../../../src/chain/work/payout-work.ts';
import { settlements } from '../../../src/chain/work/settlements.ts';
import type { Database, Queries } from '../../../src/ledger/database/database.ts';
import type { RunStatement } from '../../../src/ledger/database/prepared-query.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { Crash } from '../../../src/lib/crash-points.ts';
import { silentLog } from '../../../src/lib/log.ts';
import type { Parts } from '../planted-bugs/parts.ts';
import { askerOf } from './callers/words.ts';
import { consumingOf } from './consuming.ts';
import { copyToLose, loseOffers } from './losing-offers.ts';
import { createMinting } from './minting.ts';
import { CHAIN_ID, CONTRACTS, ESCROW, PAYOUT_LANE, TOKEN } from './model/accounts.ts';
import { cheapSigner } from './model/cheap-signer.ts';
import { createRedeeming } from './redeeming.ts';
import { createRelaying, relayKeys } from './relaying.ts';
import { intercept } from './sim-ledger.ts';
import { createTelling } from './telling.ts';
import type { World } from './world.ts';

export const LEASE_MS = 3_000;
/** Two rewards at a base fee of 60 gwei. */
const OFFER_MAX_WEI = 2n * 10n ** 16n;
export const FEE_CAP_WEI = 100n * 10n ** 9n;

/** Ends a process: nothing it would have done after this happens. */
class Poison extends Error {
  override name = 'Poison';
}
/** What a database's driver throws, as far as the program looks at it. */
export class DatabaseFault extends Error {
  override name = 'DatabaseFault';
  readonly code: string;
  constructor(code: string) {
    super(`database fault ${code}`);
    this.code = code;
  }
}

/** Where a lane waits whose better offer for a nonce is signed and not stored. */
export const REPLACEMENT = 'commit of a replacement';

/** The wallets of users. */
export const addressAt = (index: number): `0x${string}` =>
  `0x${(0xacc0000 + index).toString(16).padStart(40, '0')}`;

const never = new Promise<never>(() => {});

export interface Replica {
  readonly name: string;
  alive: boolean;
  paused: boolean;
  /** The crash point that ends it, or how many it passes before one does; undefined: none does. */
  crashAt: string | number | undefined;
  turning: boolean;
  relaying: boolean;
  minting: boolean;
  redeeming: boolean;
  following: boolean;
  realClock: Clock;
  crash: Crash;
  database: Database;
  /** What keyed requests are kept in. */
  answerDatabase: Database;
  submitter: ReturnType<typeof createEventSubmitter>;
  progress: ReturnType<typeof createRewardWaiters>;
  /** The lanes' last turns found more to do. */
  worked: boolean;
  turn(): void;
  /** Turns the lanes of the gas wallets. */
  relay(): void;
  askTopUp(): void;
  /** Turns the mint lane. */
  mint(): void;
  mintSession: ReturnType<typeof createMinting>['mintSession'];
  /** Turns the redeem lane. */
  redeem(): void;
  redeemPerk: ReturnType<typeof createRedeeming>['redeemPerk'];
  judgeRedemption: ReturnType<typeof createRedeeming>['judge'];
  relayTransaction: ReturnType<typeof createRelaying>['relayTransaction'];
  /** A brand is to be told of something. */
  tell(number: number): void;
  follow(): void;
  die(): void;
}

/** `place`: the machine that it runs on, whose clock it reads. */
export function createReplica(world: World, name: string, place: number): Replica {
  const { chance, plan, findings, mutant } = world;
  const skewAtStartMs = world.skewMs[place] ?? 0;
  const wallClock: Clock = { now: () => world.time.now() + (world.skewMs[place] ?? 0), sleep: () => never };
  const steadyClock: Clock = { now: () => world.time.now() + skewAtStartMs, sleep: () => never };

  const park = (label: string): Promise<void> => {
    if (!self.alive) return never;
    return new Promise((open) => world.gates.push({ replica: self, label, open }));
  };
  let replacing = false;
  const crash = (point: string) => {
    if (!self.alive) throw new Poison();
    world.passed(point);
    replacing = point === 'lane.bump-signed';
    if (typeof self.crashAt === 'number' ? self.crashAt-- > 0 : self.crashAt !== point) return;
    world.note(`${name} crashes at ${point}`);
    world.struck('crash', point);
    self.die();
    throw new Poison();
  };

  const guard = (queries: Queries, inside: boolean) =>
    intercept(queries, (run) => async (text, params, method) => {
      if (!inside) {
        if (!self.alive) return never;
        if (self.paused || chance.hit(plan.statementGate)) await park('statement');
      }
      if (text.startsWith('select "epoch" from "lanes"')) writing = params[0];
      if (text.startsWith('insert into "attempts"')) {
        // Rows that are many come as one parameter, in JSON.
        storing.push(...params.flatMap((value) => String(value).match(/\b0x[0-9a-f]{64}\b/g) ?? []));
        await watchWriter(run);
      }
      return run(mutant.rewrite?.(text) ?? text, params, method);
    });
  let storing: string[] = [];
  /** The lane whose lease the open commit has asked for. */
  let writing: unknown;
  const watchWriter = async (run: RunStatement) => {
    const { rows } = await run('select owner from lanes where address = ?', [writing], 'all');
    const [owner] = (rows[0] ?? []) as [string?];
    if (owner !== name) findings.add('no write under a lost lease', `${name} writes, the lane is ${owner}'s`);
  };

  const base = world.ledger.database;
  const db = guard(base.db, false);
  let inside: Queries | undefined;
  const atomically = async <T>(work: (tx: Queries) => Promise<T>): Promise<T> => {
    await park(replacing ? REPLACEMENT : 'commit');
    if (world.strikes('commit contended')) throw new DatabaseFault('SQLITE_BUSY');
    const stored: string[] = [];
    const before = replacing ? await copyToLose(world) : undefined;
    const value = await base.atomically(async (tx) => {
      storing = stored;
      inside ??= guard(tx, true);
      const done = await work(inside);
      crash('commit.before');
      if (world.strikes('commit refused')) throw new DatabaseFault('SQLITE_FULL');
      return done;
    });
    for (const hash of stored) world.stored.add(hash);
    if (before && (await loseOffers(world, { before, stored }))) return never;
    crash('commit.after');
    if (world.strikes('commit lost')) throw new DatabaseFault('08006');
    return value;
  };
  const database: Database = { ...base, db, atomically };

  const rpc: Rpc = async (method, params) => {
    await park(method);
    try {
      return await world.node.rpc(method, params);
    } finally {
      if (self.paused || chance.hit(plan.answerGate)) await park(`${method} answer`);
    }
  };
  const chain = createChainClient(rpc);
  const log = silentLog;
  const alarms = createAlarms({ now: steadyClock.now, log });
  const progress = createRewardWaiters({ database, log, pollMs: 900 });
  const payouts = payoutWork({
    settings: { escrow: ESCROW, batchMax: plan.batchMax, offerMaxWei: OFFER_MAX_WEI },
    account: PAYOUT_LANE,
    rpc,
    progress,
  });
  const parts: Parts = {
    decideDatabase: database,
    laneDatabase: database,
    laneChain: chain,
    followChain: chain,
    signer: cheapSigner(PAYOUT_LANE),
    work: payouts,
    progress,
    clock: wallClock,
    realClock: steadyClock,
    relayKeys,
    relayDatabase: database,
    queueDatabase: database,
    settlements,
    consumeDatabase: database,
    businessTime: () => database.now,
    webhookTime: () => database.now,
    answerDatabase: database,
    redeemDatabase: database,
    trialRpc: rpc,
    relayChain: chain,
    askerOf,
  };
  const wired = { ...parts, ...mutant.wire?.(parts, world) };
  const { clock, realClock } = wired;
  const told = {
    clock,
    realClock,
    alarms,
    log,
    crash,
    settlements: wired.settlements,
  };
  const followed: FollowDeps = {
    ...told,
    database,
    chain: wired.followChain,
    settings: {
      escrow: ESCROW,
      token: TOKEN,
      pointsSale: CONTRACTS.pointsSale,
      firstBlock: 1,
      confirmations: plan.confirmations,
      finalityBlocks: mutant.finalityBlocks ?? plan.finalityBlocks,
    },
    onIncluded(transaction) {
      const holds = world.chain
        .canonical()
        .findLast(({ receipts }) => receipts.some(({ hash }) => hash === transaction.hash));
      world.readPayouts = holds?.number;
      if (transaction.purpose === 'relay') relaying.look(transaction.id);
      else if (transaction.purpose === 'mint') minting.look();
      else if (transaction.purpose === 'redeem') redeeming.look();
      else progress.included(transaction);
    },
    onReorganized() {
      lane.reload();
      relaying.reload();
      minting.reload();
      redeeming.reload();
    },
  };
  const shared = { ...told, random: world.random, bookLate: createLateBooking(followed) };
  const laneSettings = {
    chainId: CHAIN_ID,
    fees: { feeCapWei: FEE_CAP_WEI, priorityFeeWei: 10n ** 9n },
    inFlightMax: plan.inFlightMax,
    leaseMs: LEASE_MS,
    resendAfterMs: 2_000,
    bumpAfterMs: 6_000,
    untakenAfterMs: 20_000,
    lostAfterBlocks: plan.finalityBlocks,
    ...mutant.lane,
  };
  const lane = createLane({
    ...shared,
    database: wired.laneDatabase,
    chain: wired.laneChain,
    signer: wired.signer,
    work: wired.work,
    owner: name,
    settings: {
      ...laneSettings,
      purpose: 'payout',
      storeMax: 1,
      offerMaxWei: OFFER_MAX_WEI,
    },
  });
  const relaying = createRelaying(world, {
    ...shared,
    rpc,
    chain: wired.relayChain,
    database: wired.relayDatabase,
    queueDatabase: wired.queueDatabase,
    keys: wired.relayKeys,
    businessTime: wired.businessTime,
    owner: name,
    lane: laneSettings,
  });
  const minting = createMinting(world, {
    ...shared,
    rpc,
    chain,
    database,
    owner: name,
    lane: laneSettings,
  });
  const redeeming = createRedeeming(world, {
    ...shared,
    rpc,
    chain,
    owner: name,
    lane: laneSettings,
    database: wired.redeemDatabase,
    trialRpc: wired.trialRpc,
    askerOf: wired.askerOf,
  });
  const telling = createTelling(world, {
    database,
    realClock,
    log,
    crash,
    park,
    businessTime: wired.webhookTime,
    owner: name,
  });
  if (plan.webhooks > 0) telling.start();
  const follower = createFollower(followed);
  const consume = consumingOf(world, {
    clock,
    crash,
    random: world.random,
    businessTime: wired.businessTime,
    database: wired.consumeDatabase,
    realNow: realClock.now,
  });
  const deps: SubmitEventsDeps = {
    database: wired.decideDatabase,
    clock,
    businessTime: wired.businessTime,
    addressAt,
    ownHosts: [],
    ownAddresses: new Set(),
    duplicateWindowMs: 60_000,
    batchMax: 3,
    triesMax: 10,
    crash,
  };

  const run = (work: () => Promise<unknown>, done: () => void) => {
    work()
      .catch((error: unknown) => {
        if (self.alive && !expected(error)) findings.add('no surprise', textOf(error));
      })
      .finally(done);
  };
  const self: Replica = {
    name,
    alive: true,
    paused: false,
    crashAt: undefined,
    turning: false,
    relaying: false,
    minting: false,
    redeeming: false,
    following: false,
    worked: false,
    realClock,
    crash,
    database,
    answerDatabase: wired.answerDatabase,
    progress,
    submitter: createEventSubmitter(deps),
    turn() {
      self.turning = true;
      const turn = async () => {
        self.worked = (await lane.turn()) === 'worked' || self.worked;
        self.worked = (await payouts.tryOut()) || self.worked;
      };
      run(turn, () => {
        self.turning = false;
      });
    },
    relay() {
      self.relaying = true;
      const turn = async () => {
        self.worked = (await relaying.turn()) || self.worked;
      };
      run(turn, () => {
        self.relaying = false;
      });
    },
    mint() {
      self.minting = true;
      const turn = async () => {
        self.worked = (await minting.turn()) || self.worked;
      };
      run(turn, () => {
        self.minting = false;
      });
    },
    mintSession: minting.mintSession,
    redeem() {
      self.redeeming = true;
      const turn = async () => {
        self.worked = (await redeeming.turn()) || self.worked;
      };
      run(turn, () => {
        self.redeeming = false;
      });
    },
    redeemPerk: redeeming.redeemPerk,
    judgeRedemption: redeeming.judge,
    tell: (number) =>
      run(
        () => telling.tell(number),
        () => {},
      ),
    askTopUp: () => run(relaying.askTopUp, () => {}),
    relayTransaction: relaying.relayTransaction,
    follow() {
      self.following = true;
      const turn = async () => {
        await follower.catchUp();
        await consume();
      };
      run(turn, () => {
        self.following = false;
      });
    },
    die() {
      self.alive = false;
      world.gates = world.gates.filter(({ replica }) => replica !== self);
    },
  };
  return self;
}

/** Errors that the faults of a run lead to; every other one is a bug. */
export function expected(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof Poison || cause instanceof DatabaseFault) return true;
    if (cause instanceof RpcAnswerError || cause instanceof RpcUnreachableError) return true;
    if (cause instanceof RpcTooLargeError) return true;
    if (cause.message === 'the lease on the lane has run out' || cause.name === 'Overtaken') return true;
    // Two tries of one request at once, the first of them believed to be gone: the index lets one of them pass.
    if (cause.message === 'UNIQUE constraint failed: rewards.id') return true;
  }
  return false;
}

export const textOf = (error: unknown): string => {
  const texts: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    texts.push(cause.message.split('\n')[0] ?? '');
  return texts.join(' ← ') || String(error);
};

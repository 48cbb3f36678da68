/** Wires the chain engine: lanes, the follower of the chain, and the boards on which requests wait for outcomes. */
import type { Database } from '../ledger/database/database.ts';
import type { Facts } from '../ledger/facts.ts';
import type { Clock } from '../lib/clock.ts';
import type { Crash } from '../lib/crash-points.ts';
import type { Random } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { createLoop } from '../lib/loop.ts';
import { type Alarms, createAlarms } from './alarms.ts';
import { createLateBooking } from './indexer/book-late.ts';
import { findEarlierMints } from './indexer/find-earlier-mints.ts';
import { createFollower } from './indexer/indexer.ts';
import type { FollowDeps, Reading } from './indexer/types.ts';
import type { LaneDeps, Signer } from './lane/types.ts';
import type { ChainClient } from './rpc/client.ts';
import type { Rpc } from './rpc/rpc.ts';
import { createMintWaiters, type MintWaiters } from './waiting/mint-waiters.ts';
import { createRedemptionWaiters, type RedemptionWaiters } from './waiting/redemption-waiters.ts';
import { createRelayWaiters, type RelayWaiters } from './waiting/relay-waiters.ts';
import { createRewardWaiters, type RewardWaiters } from './waiting/reward-waiters.ts';
import { createMints } from './work/mint-work.ts';
import { createRedemptions, type GiveUpSettings, giveUpLateRedemptions } from './work/redeem-work.ts';
import type { GasKeys } from './work/relay-lanes.ts';
import { createPayouts, type PayoutsSettings } from './work/run-payouts.ts';
import { createRelays, type RelaysSettings } from './work/run-relays.ts';
import { settlements } from './work/settlements.ts';
import type { TriedLaneSettings } from './work/simulated-work.ts';

export interface ChainEngineDeps {
  database: Database;
  chain: ChainClient;
  /** Without `relay`, `mint` or `redeem`, this process leaves that work to others. */
  signers: {
    payout: Signer;
    mint?: Signer | undefined;
    redeem?: Signer | undefined;
    relay?: GasKeys | undefined;
  };
  rpc: Rpc;
  clock: Clock;
  realClock: Clock;
  random: Random;
  log: Log;
  crash: Crash;
  facts: Facts['chain'];
  settings: ChainEngineSettings;
  /** The name under which this process holds lanes. Keep it over restarts only where one process runs. Default: a fresh name. */
  owner?: string | undefined;
  /** A block is booked, or blocks were taken back: consumers have something to read. */
  onFed?: (() => void) | undefined;
  /** Told before and after each block that is read. */
  onReading?: ((reading: Reading) => void) | undefined;
  /** Awaited once the ledger has caught up, before any account sends; its rejection is that of `start`. */
  beforeSending?: (() => Promise<void>) | undefined;
}

export interface ChainEngineSettings {
  payout: PayoutsSettings;
  lane: {
    inFlightMax: number;
    leaseMs: number;
    resendAfterMs: number;
    bumpAfterMs: number;
    untakenAfterMs: number;
  };
  relay: RelaysSettings;
  mint: TriedLaneSettings;
  redeem: TriedLaneSettings & GiveUpSettings;
  fees: { feeCapWei: bigint; priorityFeeWei: bigint };
  follow: { confirmations: number; finalityBlocks: number; idlePollMs: number; busyPollMs: number };
  progressPollMs: number;
}

export interface ChainEngine {
  progress: RewardWaiters;
  alarms: Alarms;
  payouts: { nudge(): void };
  /** `nudge`: a mint was planned, after its commit. */
  mints: MintWaiters & { nudge(): void };
  /** `nudge`: a redemption was admitted, after its commit. */
  redemptions: RedemptionWaiters & { nudge(): void };
  relays: RelayWaiters & { nudge(lane: `0x${string}`): void };
  /** Reads the blocks that exist already, then starts the loops. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The waiters of requests, whichever process does the work. */
function createBoards({ database, log, settings }: Pick<ChainEngineDeps, 'database' | 'log' | 'settings'>) {
  const deps = { database, log, pollMs: settings.progressPollMs };
  const progress = createRewardWaiters(deps);
  const minted = createMintWaiters(deps);
  const redeemed = createRedemptionWaiters(deps);
  const relayed = createRelayWaiters(deps);
  const all = [progress, minted, redeemed, relayed];
  return {
    progress,
    minted,
    redeemed,
    relayed,
    isAwaited: () => all.some((board) => board.isAwaited()),
    stop() {
      for (const board of all) board.stop();
    },
  };
}

/** The lanes of this process: payouts always, mints, redemptions and relays where it has their keys. */
function createLanes(
  deps: ChainEngineDeps & { alarms: Alarms; onSent: () => void; bookLate: LaneDeps['bookLate'] },
  { progress, minted, redeemed }: Pick<ReturnType<typeof createBoards>, 'progress' | 'minted' | 'redeemed'>,
) {
  const { facts, settings } = deps;
  const laneDeps = {
    ...deps,
    owner: deps.owner ?? deps.random.uuid(),
    settlements,
    lane: {
      ...settings.lane,
      chainId: facts.chainId,
      fees: settings.fees,
      lostAfterBlocks: settings.follow.finalityBlocks,
    },
  };
  const { payout, mint, redeem, relay } = deps.signers;
  const { escrow, perks, pointsSale } = facts.contracts;
  const mints = { pointsSale, onGivenUp: minted.look, settings: settings.mint };
  const contracts = Object.values(facts.contracts);
  const redemptions = { perks, contracts, onGivenUp: redeemed.look, settings: settings.redeem };
  return {
    payouts: createPayouts({ ...laneDeps, signer: payout, progress, escrow, settings: settings.payout }),
    mints: mint && createMints({ ...laneDeps, ...mints, signer: mint }),
    redemptions: redeem && createRedemptions({ ...laneDeps, ...redemptions, signer: redeem }),
    relays: relay && createRelays({ ...laneDeps, keys: relay, perks, settings: settings.relay }),
  };
}

export function createChainEngine(deps: ChainEngineDeps): ChainEngine {
  const { log, facts, settings } = deps;
  const alarms = createAlarms({ now: deps.realClock.now, log });
  const boards = createBoards(deps);
  const { progress, minted, redeemed, relayed } = boards;
  const onSent = () => following.nudge();
  const followed: FollowDeps = {
    ...deps,
    alarms,
    settlements,
    settings: {
      ...settings.follow,
      escrow: facts.contracts.escrow,
      token: facts.contracts.token,
      pointsSale: facts.contracts.pointsSale,
      firstBlock: facts.deploymentBlock,
    },
    onIncluded(transaction) {
      if (transaction.purpose === 'relay') {
        relayed.look(transaction.id);
        relays?.onIncluded();
      } else if (transaction.purpose === 'mint') {
        minted.look();
        mints?.nudge();
      } else if (transaction.purpose === 'redeem') {
        redeemed.look();
        redemptions?.nudge();
      } else {
        progress.included(transaction);
        payouts.onIncluded(transaction.id);
      }
    },
    onReorganized() {
      for (const lane of [payouts, mints, redemptions, relays]) lane?.reload();
    },
  };
  const bookLate = createLateBooking(followed);
  const { payouts, mints, redemptions, relays } = createLanes({ ...deps, alarms, onSent, bookLate }, boards);
  const follower = createFollower(followed);
  const following = createLoop({
    name: 'follower',
    async turn(signal) {
      await follower.catchUp(signal);
      return 'idle';
    },
    pauseMs: () => (boards.isAwaited() ? settings.follow.busyPollMs : settings.follow.idlePollMs),
    log,
  });
  const late = giveUpLateRedemptions({ ...deps, settings: settings.redeem, onGivenUp: redeemed.look });

  return {
    progress,
    alarms,
    payouts: { nudge: payouts.nudge },
    mints: { ...minted, nudge: () => mints?.nudge() },
    redemptions: { ...redeemed, nudge: () => redemptions?.nudge() },
    relays: { ...relayed, nudge: (address) => relays?.nudge(address) },
    async start() {
      await follower.catchUp();
      await findEarlierMints({ ...deps, pointsSale: facts.contracts.pointsSale });
      await deps.beforeSending?.();
      await relays?.start();
      following.start();
      payouts.start();
      mints?.start();
      redemptions?.start();
      late.start();
    },
    async stop() {
      await payouts.stop();
      await mints?.stop();
      await redemptions?.stop();
      await late.stop();
      await relays?.stop();
      await following.stop();
      await payouts.release();
      boards.stop();
    },
  };
}

/** The engine of a process that leaves chain work to others: it reads the progress of rewards from the ledger. */
export function createWatchingEngine(
  deps: Pick<ChainEngineDeps, 'database' | 'log' | 'realClock' | 'settings'>,
): ChainEngine {
  const { progress, minted, redeemed, relayed, stop } = createBoards(deps);
  return {
    progress,
    mints: { ...minted, nudge: () => {} },
    redemptions: { ...redeemed, nudge: () => {} },
    relays: { ...relayed, nudge: () => {} },
    alarms: createAlarms({ now: deps.realClock.now, log: deps.log }),
    payouts: { nudge: () => {} },
    async start() {},
    async stop() {
      stop();
    },
  };
}

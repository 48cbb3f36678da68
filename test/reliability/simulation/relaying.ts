/** The relay of one process: production's queue, its lanes of gas wallets, and the board on which callers wait. */
import { createRelayQueue } from '../../../src/actions/relay/queue-relays.ts';
import { createRelayTransaction } from '../../../src/actions/relay/relay-transaction.ts';
import type { Lane, LaneDeps, LaneSettings } from '../../../src/chain/lane/types.ts';
import { createChainClient } from '../../../src/chain/rpc/client.ts';
import type { Rpc } from '../../../src/chain/rpc/rpc.ts';
import { createRelayWaiters } from '../../../src/chain/waiting/relay-waiters.ts';
import { createRelayLanes, type GasKeys } from '../../../src/chain/work/relay-lanes.ts';
import type { BusinessTime, Database } from '../../../src/ledger/database/database.ts';
import { requestTopUp } from '../../../src/ledger/relay/gas-wallets.ts';
import { permitFor } from './callers/relay-callers.ts';
import { CONTRACTS, GAS_WALLETS, TOKEN } from './model/accounts.ts';
import { cheapSigner } from './model/cheap-signer.ts';
import type { World } from './world.ts';

export const RELAY_WINDOW_MS = 120_000;
/** The part of a payer's budget that one user may spend. */
export const USER_SHARE = 0.6;
const PERMIT_GAS = 50_000;

export const relayKeys: GasKeys = (keyIndex) => {
  const wallet = GAS_WALLETS.find((one) => one.keyIndex === keyIndex);
  if (!wallet) throw new Error(`no gas wallet has key ${keyIndex}`);
  return cheapSigner(wallet.address);
};

interface RelayingDeps extends Omit<LaneDeps, 'signer' | 'work' | 'settings'> {
  rpc: Rpc;
  keys: GasKeys;
  businessTime: BusinessTime;
  /** What admits calls. */
  queueDatabase: Database;
  lane: Omit<LaneSettings, 'purpose' | 'storeMax'>;
}

export function createRelaying(world: World, deps: RelayingDeps) {
  const { plan, chance } = world;
  const { database, log, random, clock, businessTime } = deps;
  const progress = createRelayWaiters({ database, log, pollMs: 900 });
  const lanes = createRelayLanes({ ...deps, onSent() {}, lane: { ...deps.lane, storeMax: plan.storeMax } });
  const userLimit = { scope: 'relay user', limit: plan.relayLimit, windowMs: RELAY_WINDOW_MS };
  const { queue } = createRelayQueue({
    database: deps.queueDatabase,
    businessTime,
    userLimit,
    batchMax: 3,
    triesMax: 10,
  });
  const relayTransaction = createRelayTransaction({
    database,
    clock,
    businessTime,
    random,
    chain: createChainClient(deps.rpc),
    rpc: deps.rpc,
    contracts: CONTRACTS,
    // No perk here has constraints.
    checkConstraints: () => Promise.resolve([]),
    /** A permit is signed and tried for real elsewhere: here a call has one by chance, and reserves its gas as well. */
    queue: (wish) => {
      if (!chance.hit(plan.permits)) return queue(wish);
      const reservedGwei = Math.ceil((wish.reservedGwei * (wish.gas + PERMIT_GAS)) / wish.gas);
      return queue({
        ...wish,
        permit: { to: TOKEN, data: permitFor(wish.data), gas: PERMIT_GAS },
        reservedGwei,
      });
    },
    relays: { waitFor: progress.waitFor, nudge() {} },
    settings: {
      userLimit,
      gasMax: 500_000,
      fees: deps.lane.fees,
      permitMarginMs: 0,
      budgetGwei: plan.gasBudgetGwei,
      userShare: USER_SHARE,
      answerTimeoutMs: 8_000,
      batchMax: 4,
    },
  });
  return {
    relayTransaction,
    look: progress.look,
    reload() {
      for (const lane of lanes.opened.values()) lane.reload();
    },
    /** Turns, at once, every lane that has work; whether any found more to do. */
    async turn(): Promise<boolean> {
      const opened: (Lane | undefined)[] = [];
      for (const address of new Set(await lanes.withWork())) opened.push(await lanes.at(address));
      const outcomes = await Promise.allSettled(opened.map((lane) => lane?.turn()));
      for (const one of outcomes) if (one.status === 'rejected') throw one.reason;
      return outcomes.some((one) => one.status === 'fulfilled' && one.value === 'worked');
    },
    /** The service's own wallet is to send native currency to the brand's. */
    async askTopUp(): Promise<void> {
      const [own, brands] = GAS_WALLETS;
      if (!own || !brands) return;
      const wish = { id: random.uuid(), lane: own.address, wallet: brands.address };
      world.topUps += 1;
      // No two are alike.
      const amountWei = BigInt(1_000_000 + world.topUps);
      await database.atomically((tx) => requestTopUp(tx, { ...wish, amountWei, nowMs: clock.now() }));
    },
  };
}

/** What a planted bug may change: the parts that a process is put together from, its statements, its settings. */
import type { LaneSettings, LaneWork, Signer } from '../../../src/chain/lane/types.ts';
import type { ChainClient } from '../../../src/chain/rpc/client.ts';
import type { Rpc } from '../../../src/chain/rpc/rpc.ts';
import type { RewardWaiters } from '../../../src/chain/waiting/reward-waiters.ts';
import type { GasKeys } from '../../../src/chain/work/relay-lanes.ts';
import type { BusinessTime, Database } from '../../../src/ledger/database/database.ts';
import type { Settlements } from '../../../src/ledger/transactions/settle.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { RecoveryDeps } from '../../../src/production/recovery/context.ts';
import type { Asker } from '../../../src/rules/perks/consent.ts';
import type { Word } from '../simulation/callers/words.ts';
import type { Plan } from '../simulation/plan.ts';
import type { World } from '../simulation/world.ts';

/** What one process is put together from. */
export interface Parts {
  decideDatabase: Database;
  laneDatabase: Database;
  laneChain: ChainClient;
  followChain: ChainClient;
  signer: Signer;
  work: LaneWork;
  progress: RewardWaiters;
  /** The time of the machine that it runs on, which jumps. */
  clock: Clock;
  realClock: Clock;
  businessTime: BusinessTime;
  /** What the schedules of webhooks go by. */
  webhookTime: BusinessTime;
  answerDatabase: Database;
  relayKeys: GasKeys;
  /** What the lanes of the gas wallets ask. */
  relayChain: ChainClient;
  /** What the lanes of the gas wallets are kept in. */
  relayDatabase: Database;
  /** What admits relayed calls. */
  queueDatabase: Database;
  settlements: Settlements;
  /** What consumers work in. */
  consumeDatabase: Database;
  /** What admits redemptions, and what their lane works in. */
  redeemDatabase: Database;
  /** What asks a node to try redemptions out. */
  trialRpc: Rpc;
  /** Who asks for a redemption of this user. */
  askerOf: (word: Word, user: `0x${string}`) => Asker;
}

export interface Mutant {
  name: string;
  /**
   * Few seeds find it: the search begins here, near one that does, since every change would wait for the others. A
   * harness that draws otherwise finds it at another seed, after a longer search.
   */
  searchFrom?: number;
  /** The circumstances in which it shows, where hardly a seed draws all of them at once. */
  circumstances?: Partial<Plan>;
  /** Changes the schema. */
  ddl?: string;
  /** Off: the escrow keeps no record of what it paid. */
  bitmap?: boolean;
  finalityBlocks?: number;
  lane?: Partial<LaneSettings>;
  /** Changes statements on their way to the database. */
  rewrite?: (text: string) => string;
  /** What `rewards recover` works with. */
  recover?: (deps: RecoveryDeps, world: World) => Partial<RecoveryDeps>;
  wire?: (parts: Parts, world: World) => Partial<Parts>;
}

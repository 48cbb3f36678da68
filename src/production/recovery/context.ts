/** What the parts of a recovery share: the chain's side, the ledger's, and, while they write, ids, times, notes, and which transaction stands for what. */
import type { ChainHistory } from '../../audit/chain-history.ts';
import type { EscrowActivity } from '../../audit/escrow-activity.ts';
import type { LaneCall } from '../../chain/contracts/calls/lane-call.ts';
import type { ChainPerk } from '../../chain/contracts/calls/perk-calls.ts';
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import type { WalletTree } from '../../identity/wallets.ts';
import type { Database, Queries } from '../../ledger/database/database.ts';
import type { Facts } from '../../ledger/facts.ts';
import type { CheckoutSession } from '../../ledger/recovery/adopt-queued.ts';
import { noteRecovered } from '../../ledger/recovery/recoveries.ts';
import type { RecoveredKind } from '../../ledger/schema/recoveries.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Hex } from '../../lib/hex.ts';
import type { Random } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';

export interface RecoveryDeps {
  database: Database;
  chain: ChainClient;
  rpc: Rpc;
  /** Each node by itself: each has a pool of its own. */
  nodes: readonly Rpc[];
  history: ChainHistory;
  facts: Facts['chain'];
  wallets: WalletTree;
  /** Addresses of the gas wallets below the relay's key; undefined without that key. */
  gasWalletAt: ((index: number) => Hex) | undefined;
  /** Accounts whose keys were given, known to the ledger or not. */
  ownAccounts: readonly Hex[];
  random: Random;
  log: Log;
  clock: Clock;
  settings: RecoverySettings;
  /** Real time. */
  sleep: (ms: number) => Promise<void>;
  /** Told how far it is. */
  progress: (part: 'blocks' | 'transactions' | 'follow', done: number, of: number | undefined) => void;
  /** Called after each commit; a test ends the work there. */
  committed: () => void;
}

export interface RecoverySettings {
  /** Confirmations that a block needs before it is read, its own included. */
  confirmations: number;
  /** Depth at which a block counts as final. */
  finalityBlocks: number;
}

/** A transaction of one of our accounts that a block or a pool has. */
export interface FoundTransaction {
  hash: Hex;
  /** As the ledger spells it. */
  lane: Hex;
  nonce: number;
  /** Undefined where the bytes are of a form that the ledger cannot keep. */
  raw: Hex | undefined;
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
  to: Hex | null;
  data: Hex;
  valueWei: bigint;
  gas: number;
  call: LaneCall;
  /** Undefined: it waits in a pool. */
  block: { number: number; timestampMs: number; index: number } | undefined;
  succeeded: boolean | undefined;
  /** What the contracts logged; undefined where they logged nothing. */
  activity: EscrowActivity | undefined;
}

/** Nonces of an account that nodes count as waiting and whose transactions no node shows. */
export interface PendingUnknown {
  account: Hex;
  fromNonce: number;
  nextNonce: number;
}

/** What the chain and the pools have beyond the last block that both sides agree on. */
export interface LostWork {
  /** Null: the ledger had read no block. */
  agreedBlock: number | null;
  headBlock: number;
  headHash: Hex;
  /** Blocks first, in their order; then what waits, by account and nonce. */
  transactions: FoundTransaction[];
  activities: EscrowActivity[];
  pendingUnknown: PendingUnknown[];
  /** The lowest sequence that the escrow has paid beyond the ledger; undefined: none. */
  paidAheadOfLedger: number | undefined;
  /** The first numbers that nothing on chain or in a pool uses. */
  unused: { reward_sequence: number; wallet_index: number; gas_wallet_index: number };
  /** Derived wallets beyond the ledger that were paid, by address in lower case. */
  derived: Map<Hex, number>;
  /** Gas wallets beyond the ledger that have sent something. */
  gasWallets: Hex[];
  /** What the chain has of the perks that these transactions are about, by token. */
  perks: Map<number, ChainPerk>;
}

export interface RecoveryContext {
  deps: RecoveryDeps;
  recoveryId: string;
  work: LostWork;
  nowMs: number;
  /** The epoch under which a lane's transactions are stored. */
  epochOf: (lane: Hex) => number;
  /** The transaction that counts for a sequence or key: the one that had its effect, else the last that carries it. */
  carrierOf: (subject: string) => Hex | undefined;
  /** Checkouts without a mint by the key that their mint has; empty until they are asked for. */
  sessions: Map<Hex, CheckoutSession>;
}

export const sequenceText = (sequence: bigint | number) => `sequence ${sequence}`;
export const keyText = (key: Hex) => `key ${key}`;

/** What a transaction carries, by the names under which `carrierOf` knows it. */
function subjectsOf({ call }: FoundTransaction): string[] {
  if (call.kind === 'payout') return call.entries.map(({ sequence }) => sequenceText(sequence));
  return call.kind === 'mint' || call.kind === 'redeem' ? [keyText(call.key)] : [];
}

/** Whether the transaction did this piece of its work, as its block shows. */
function hadEffect({ succeeded, activity }: FoundTransaction, subject: string): boolean {
  if (succeeded !== true) return false;
  return !activity?.skipped.some((one) => sequenceText(one.sequence) === subject);
}

/** What the parts of a recovery share while they write: ids, times, notes, and which transaction stands for what. */
export function carriers(found: readonly FoundTransaction[]): RecoveryContext['carrierOf'] {
  const carrier = new Map<string, { hash: Hex; isDone: boolean }>();
  for (const one of found) {
    for (const subject of subjectsOf(one)) {
      if (carrier.get(subject)?.isDone) continue;
      carrier.set(subject, { hash: one.hash, isDone: hadEffect(one, subject) });
    }
  }
  return (subject) => carrier.get(subject)?.hash;
}

/** When a transaction came: its block's time, and for one that waits the present. */
export const timeOf = ({ nowMs }: RecoveryContext, { block }: FoundTransaction): number =>
  Math.min(block?.timestampMs ?? nowMs, nowMs);

/** Notes a row that was written or bound. */
export const note = (
  tx: Queries,
  { recoveryId }: RecoveryContext,
  kind: RecoveredKind,
  rowId: string,
  detail: Record<string, unknown>,
): Promise<void> => noteRecovered(tx, { kind, rowId, recoveryId, detail });

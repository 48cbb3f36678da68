/** What the parts of a recovery share while they write: ids, times, notes, and which transaction stands for what. */
import type { Queries } from '../../ledger/database/database.ts';
import type { CheckoutSession } from '../../ledger/recovery/adopt-queued.ts';
import { noteRecovered } from '../../ledger/recovery/recoveries.ts';
import type { RecoveredKind } from '../../ledger/schema/recoveries.ts';
import type { Hex } from '../../lib/hex.ts';
import type { FoundTransaction, LostWork, RecoveryDeps } from './types.ts';

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

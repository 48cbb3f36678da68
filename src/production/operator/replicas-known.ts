/** Which processes the ledger knows to run: those that hold the lease of a sending account, or held it a moment ago. */
import { type Database, readTime } from '../../ledger/database/database.ts';
import { everyLane } from '../../ledger/transactions/backlog.ts';

/** A process that sends, as its leases tell. */
export interface Replica {
  /** As its leases name it. */
  name: string;
  isThis: boolean;
  /** Purposes and accounts of the leases that it holds; empty where the last one has just run out. */
  lanes: { purpose: string; address: string }[];
  /** For how long it has not renewed a lease; undefined where a lease is longer than those of a service. */
  renewedAgoMs: number | undefined;
}

/** What ran out longer ago says nothing of its process: gas wallets are leased only while they send. */
const LEFT_WITHIN_MS = 30_000;

/** Those that hold the most lanes first. A process without a lane leaves no trace in the ledger. */
export async function replicasKnown(
  database: Database,
  { leaseMs, own }: { leaseMs: number; own: string },
): Promise<Replica[]> {
  // Leases go by the database's clock.
  const nowMs = await readTime(database);
  const owned = new Map<string, Awaited<ReturnType<typeof everyLane>>>();
  for (const lane of await everyLane(database.db))
    if (lane.leaseUntil > nowMs - LEFT_WITHIN_MS)
      owned.set(lane.owner, [...(owned.get(lane.owner) ?? []), lane]);
  return [...owned]
    .map(([name, lanes]): Replica => {
      const latestMs = Math.max(...lanes.map(({ leaseUntil }) => leaseUntil));
      const agoMs = nowMs - (latestMs - leaseMs);
      return {
        name,
        isThis: name === own,
        lanes: lanes
          .filter(({ leaseUntil }) => leaseUntil > nowMs)
          .map(({ purpose, address }) => ({ purpose, address })),
        renewedAgoMs: agoMs < 0 ? undefined : agoMs,
      };
    })
    .sort((one, other) => other.lanes.length - one.lanes.length);
}

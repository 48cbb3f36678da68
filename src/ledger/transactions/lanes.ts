/**
 * The accounts that the service sends from: the lease on each with its epoch that every write of its owner repeats,
 * which are retired, and which addresses are among them.
 */
import { and, eq, gt, lte, or, sql } from 'drizzle-orm';
import type { Queries, SqlTime } from '../database/database.ts';
import { atTime, isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { gasWallets } from '../schema/relay.ts';
import { type LanePurpose, lanes, retiredLanes } from '../schema/transactions.ts';

/**
 * Takes or extends the lease on an account. Returns the epoch to write under, or undefined while another
 * owner holds it. A new owner gets a higher epoch, which refuses every later write of the last owner. `now` is the
 * database's clock, so that no process's clock decides how long the others wait.
 */
export async function leaseLane(
  db: Queries,
  lease: { address: `0x${string}`; purpose: LanePurpose; owner: string; now: SqlTime; forMs: number },
): Promise<number | undefined> {
  const { now, ...wanted } = lease;
  const [row] = await takeLease(now)(db, wanted);
  return row?.epoch;
}

const takeLease = atTime((now) =>
  preparedQuery(
    (db, of: Of<{ address: `0x${string}`; purpose: LanePurpose; owner: string; forMs: number }>) => {
      const { address, purpose, owner } = of;
      const leaseUntil = sql`${now} + ${of.forMs}`;
      // A lease never ends later than its length from now, unless the clock was ahead when it was written.
      const isOver = or(lte(lanes.leaseUntil, now), gt(lanes.leaseUntil, leaseUntil));
      return db
        .insert(lanes)
        .values({ address, purpose, owner, epoch: 1, leaseUntil })
        .onConflictDoUpdate({
          target: lanes.address,
          set: {
            owner: sql`excluded.owner`,
            leaseUntil,
            epoch: sql`case when ${lanes.owner} = ${owner} then ${lanes.epoch} else ${lanes.epoch} + 1 end`,
          },
          setWhere: or(eq(lanes.owner, owner), isOver),
        })
        .returning({ epoch: lanes.epoch });
    },
  ),
);

/** Whether `epoch` is still the lane's, with the row locked until the commit: the fence of every write. */
export async function holdsLane(
  tx: Queries,
  lane: { address: `0x${string}`; epoch: number; now: SqlTime },
): Promise<boolean> {
  const { now, address, epoch } = lane;
  return (await findHeld(now)(tx, { address, epoch })).length === 1;
}

const findHeld = atTime((now) =>
  preparedQuery((db, of: Of<{ address: `0x${string}`; epoch: number }>) =>
    db
      .select({ epoch: lanes.epoch })
      .from(lanes)
      .where(and(eq(lanes.address, of.address), eq(lanes.epoch, of.epoch), gt(lanes.leaseUntil, now)))
      .for('update'),
  ),
);

/** Gives the lease back, so that the next owner need not wait for it to run out. */
export async function releaseLane(
  db: Queries,
  lane: { address: `0x${string}`; owner: string },
): Promise<void> {
  await db
    .update(lanes)
    .set({ leaseUntil: 0 })
    .where(and(eq(lanes.address, lane.address), eq(lanes.owner, lane.owner)));
}

// Sending accounts that an operator has retired: nothing of theirs is open, and what their keys do now is nobody's
// business.

type Address = `0x${string}`;
type RetiredLane = typeof retiredLanes.$inferSelect;

export const listRetiredLanes = (db: Queries): Promise<RetiredLane[]> => db.select().from(retiredLanes);

export async function isRetired(db: Queries, lane: Address): Promise<boolean> {
  const rows = await db
    .select({ lane: retiredLanes.lane })
    .from(retiredLanes)
    .where(eq(retiredLanes.lane, lane));
  return rows.length === 1;
}

/** False when it was retired before. */
export async function keepRetired(tx: Queries, retired: RetiredLane): Promise<boolean> {
  const kept = await tx
    .insert(retiredLanes)
    .values(retired)
    .onConflictDoNothing()
    .returning({ lane: retiredLanes.lane });
  return kept.length === 1;
}

// The accounts that the service itself sends from, as this ledger knows them.

/** Of these addresses, in lower case, the ones that a lane sends from or that pay a brand's gas. */
export async function ownAccountsAmong(db: Queries, addresses: string[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const own = await ownAmong(db, { addresses });
  return new Set(own.map(({ address }) => address));
}

const ownAmong = preparedQuery((db, of: Of<{ addresses: string[] }>) =>
  db
    .select({ address: sql<string>`lower(own.address)` })
    .from(
      sql`(select ${lanes.address} as address from ${lanes} union all select ${gasWallets.address} from ${gasWallets}) as own`,
    )
    .where(isOneOf(sql`lower(own.address)`, of.addresses)),
);

/** The right to send from an account: a lease with an epoch that every write of its owner repeats. */
import { and, eq, gt, lte, or, sql } from 'drizzle-orm';
import type { Queries, SqlTime } from '../database/database.ts';
import { type LanePurpose, lanes } from '../schema/transactions.ts';

/**
 * Takes or extends the lease on an account. Returns the epoch to write under, or undefined while another
 * owner holds it. A new owner gets a higher epoch, which refuses every later write of the last owner. `now` is the
 * database's clock, so that no process's clock decides how long the others wait.
 */
export async function leaseLane(
  db: Queries,
  lease: { address: `0x${string}`; purpose: LanePurpose; owner: string; now: SqlTime; forMs: number },
): Promise<number | undefined> {
  const { address, purpose, owner, now, forMs } = lease;
  const leaseUntil = sql`${now} + ${forMs}`;
  // A lease never ends later than its length from now, unless the clock was ahead when it was written.
  const isOver = or(lte(lanes.leaseUntil, now), gt(lanes.leaseUntil, leaseUntil));
  const [row] = await db
    .insert(lanes)
    .values({ address, purpose, owner, epoch: 1, leaseUntil })
    .onConflictDoUpdate({
      target: lanes.address,
      set: {
        owner,
        leaseUntil,
        epoch: sql`case when ${lanes.owner} = ${owner} then ${lanes.epoch} else ${lanes.epoch} + 1 end`,
      },
      setWhere: or(eq(lanes.owner, owner), isOver),
    })
    .returning({ epoch: lanes.epoch });
  return row?.epoch;
}

/** Whether `epoch` is still the lane's, with the row locked until the commit: the fence of every write. */
export async function holdsLane(
  tx: Queries,
  lane: { address: `0x${string}`; epoch: number; now: SqlTime },
): Promise<boolean> {
  const rows = await tx
    .select({ epoch: lanes.epoch })
    .from(lanes)
    .where(and(eq(lanes.address, lane.address), eq(lanes.epoch, lane.epoch), gt(lanes.leaseUntil, lane.now)))
    .for('update');
  return rows.length === 1;
}

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

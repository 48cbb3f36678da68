/** The right to send from an account: a lease with an epoch that every write of its owner repeats. */
import { and, eq, gt, lte, or, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { type LanePurpose, lanes } from '../schema/transactions.ts';

/**
 * Takes or extends the lease on an account. Returns the epoch to write under, or undefined while another
 * owner holds it. A new owner gets a higher epoch, which refuses every later write of the last owner.
 */
export async function leaseLane(
  db: Queries,
  lease: { address: `0x${string}`; purpose: LanePurpose; owner: string; nowMs: number; forMs: number },
): Promise<number | undefined> {
  const { address, purpose, owner, nowMs, forMs } = lease;
  const [row] = await db
    .insert(lanes)
    .values({ address, purpose, owner, epoch: 1, leaseUntil: nowMs + forMs })
    .onConflictDoUpdate({
      target: lanes.address,
      set: {
        owner,
        leaseUntil: nowMs + forMs,
        epoch: sql`case when ${lanes.owner} = ${owner} then ${lanes.epoch} else ${lanes.epoch} + 1 end`,
      },
      setWhere: or(eq(lanes.owner, owner), lte(lanes.leaseUntil, nowMs)),
    })
    .returning({ epoch: lanes.epoch });
  return row?.epoch;
}

/** Whether `epoch` is still the lane's, with the row locked until the commit: the fence of every write. */
export async function holdsLane(
  tx: Queries,
  lane: { address: `0x${string}`; epoch: number; nowMs: number },
): Promise<boolean> {
  const rows = await tx
    .select({ epoch: lanes.epoch })
    .from(lanes)
    .where(
      and(eq(lanes.address, lane.address), eq(lanes.epoch, lane.epoch), gt(lanes.leaseUntil, lane.nowMs)),
    )
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

/** Holds every sending account while a recovery writes, so that no service sends from one; the same leases as a service's. */

import type { Database, Queries } from '../../ledger/database/database.ts';
import type { LanePurpose } from '../../ledger/schema/transactions.ts';
import { everyLane } from '../../ledger/transactions/backlog.ts';
import { holdsLane, leaseLane, releaseLane } from '../../ledger/transactions/lanes.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import type { Hex } from '../../lib/hex.ts';
import { stopwatch } from '../../lib/timers.ts';
import { problemOf } from '../start-errors.ts';

/** Short enough that the next try need not wait long for one that was killed. While the chain is read, a lease may run out: it is taken again before anything is written. */
const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 3_000;
/** A service renews its lease at half of its two seconds: one that stands still for so long has no owner any more. */
const OWNER_IS_GONE_MS = 5_000;
const LOOK_EVERY_MS = 250;
const OWNER = 'rewards recover';

export interface HeldLanes {
  epochOf: (lane: Hex) => number;
  /** Extends the leases, now and then; called before each commit. */
  renew(): Promise<void>;
  /** Throws, in a commit, when a lease was lost. */
  fence(tx: Queries): Promise<void>;
  release(): Promise<void>;
}

/** Throws E_RECOVERY_SERVICE_RUNS when somebody else holds one of them. */
export async function holdLanes(
  deps: { database: Database; sleep: (ms: number) => Promise<void> },
  { accounts, owner }: { accounts: readonly Hex[]; owner: string },
): Promise<HeldLanes> {
  const { database } = deps;
  const known = new Map((await everyLane(database.db)).map((lane) => [lane.address, lane.purpose]));
  const held = new Map<Hex, number>();
  const name = `${OWNER} ${owner}`;
  const lease = (address: Hex) => {
    const purpose: LanePurpose = known.get(address) ?? 'setup';
    return leaseLane(database.db, { address, purpose, owner: name, now: database.now, forMs: LEASE_MS });
  };
  const lost = (lane: string, by: string) =>
    new PreconditionError(
      problemOf('E_RECOVERY_SERVICE_RUNS', { message: `${by} holds the sending account ${lane}` }),
    );
  for (const address of known.keys()) held.set(address, await takeOver(address));
  for (const address of accounts) if (!held.has(address)) held.set(address, 0);
  let sinceRenewal = stopwatch();

  /** Waits for the lease of an owner that is gone; one that is renewed belongs to a process that lives. */
  async function takeOver(address: Hex): Promise<number> {
    const elapsed = stopwatch();
    let until: number | undefined;
    for (;;) {
      const epoch = await lease(address);
      if (epoch !== undefined) return epoch;
      const row = (await everyLane(database.db)).find((one) => one.address === address);
      const isRenewed = until !== undefined && row !== undefined && row.leaseUntil > until;
      if (isRenewed || elapsed() > (row?.owner.startsWith(OWNER) ? LEASE_MS : OWNER_IS_GONE_MS))
        throw lost(address, row?.owner ?? 'another process');
      until = row?.leaseUntil;
      await deps.sleep(LOOK_EVERY_MS);
    }
  }

  return {
    epochOf: (lane) => held.get(lane) ?? 0,
    async renew() {
      if (sinceRenewal() < RENEW_EVERY_MS) return;
      for (const address of known.keys())
        if ((await lease(address)) !== held.get(address)) throw lost(address, 'another process');
      sinceRenewal = stopwatch();
    },
    async fence(tx) {
      for (const address of known.keys()) {
        const epoch = held.get(address) ?? 0;
        if (!(await holdsLane(tx, { address, epoch, now: database.now })))
          throw lost(address, 'another process');
      }
    },
    async release() {
      for (const address of known.keys()) await releaseLane(database.db, { address, owner: name });
    },
  };
}

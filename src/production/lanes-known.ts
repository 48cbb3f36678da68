/** Which lanes have a process that sends for them: this one, another, or none, though brands wait for what they carry. */

import { isAnyBrand } from '../ledger/brands/brands.ts';
import type { Database, Queries } from '../ledger/database/database.ts';
import { mintBacklog } from '../ledger/payments/mint-queue.ts';
import { arePerksOffered } from '../ledger/perks/perks.ts';
import { redemptionBacklog } from '../ledger/perks/redemption-queue.ts';
import { findGasWallet } from '../ledger/relay/gas-wallets.ts';
import { everyLane } from '../ledger/transactions/backlog.ts';
import type { Log } from '../lib/log.ts';
import type { StartConfig } from './start-config.ts';

export type LaneName = 'payout' | 'mint' | 'redeem' | 'relay';

/** here: this process has its key · elsewhere: another process holds it · missing: no process holds it, and it is needed. */
export type LaneState = 'here' | 'elsewhere' | 'missing' | 'not needed';

/** Longer than a lease, and than a process takes that is replaced by another. */
const LEFT_WITHIN_MS = 30_000;

/** What each lane is for, and the setting that gives a process its key. */
const LANES: Record<LaneName, { carries: string; setting: string }> = {
  payout: { carries: 'rewards', setting: 'REWARDS_PAYOUT_KEY_FILE' },
  mint: { carries: 'mints for payments and operators', setting: 'REWARDS_MINT_KEY_FILE' },
  redeem: { carries: 'redemptions of perks', setting: 'REWARDS_REDEMPTION_KEY_FILE' },
  relay: { carries: "users' calls without gas", setting: 'REWARDS_RELAY_KEY_FILE' },
};

type Known = Pick<StartConfig, 'workers' | 'keys' | 'payments' | 'identity'>;

/** The lanes whose keys this process sends with. */
function lanesHere({ workers, keys }: Pick<Known, 'workers' | 'keys'>): Set<LaneName> {
  const { payout, mint, redemption, relay } = keys;
  if (!workers.includes('outbox')) return new Set();
  const names: LaneName[] = [
    ...(payout ? (['payout'] as const) : []),
    ...(mint ? (['mint'] as const) : []),
    ...(redemption ? (['redeem'] as const) : []),
    ...(relay ? (['relay'] as const) : []),
  ];
  return new Set(names);
}

/** Where the ledger needs each lane, and who holds it; `nowMs` is the machine's clock. */
export async function lookAtLanes(
  { database }: { database: Pick<Database, 'db'> },
  config: Known,
  nowMs: number,
): Promise<Record<LaneName, LaneState>> {
  const { db } = database;
  const here = lanesHere(config);
  const held = new Set<string>(
    (await everyLane(db))
      .filter(({ leaseUntil }) => leaseUntil > nowMs - LEFT_WITHIN_MS)
      .map(({ purpose }) => purpose),
  );
  // A gas wallet has a lease only while it sends; a process with the relay key has made the service's own.
  if (await findGasWallet(db, 'service')) held.add('relay');
  const state = async (name: LaneName): Promise<LaneState> => {
    if (here.has(name)) return 'here';
    if (held.has(name)) return 'elsewhere';
    return (await isNeeded[name](db, config)) ? 'missing' : 'not needed';
  };
  return {
    payout: await state('payout'),
    mint: await state('mint'),
    redeem: await state('redeem'),
    relay: await state('relay'),
  };
}

const isNeeded: Record<LaneName, (db: Queries, config: Known) => Promise<boolean>> = {
  payout: isAnyBrand,
  mint: async (db, { payments }) => payments === 'stripe' || (await mintBacklog(db)).waiting > 0,
  redeem: async (db) => (await arePerksOffered(db)) || (await redemptionBacklog(db)).waiting > 0,
  relay: async (_db, { identity }) => identity === 'oidc',
};

/** A line of the log for each lane without a process that sends for it. */
export function warnOfMissing(lanes: Record<LaneName, LaneState>, log: Log): void {
  for (const [name, state] of Object.entries(lanes)) {
    if (state !== 'missing') continue;
    const { carries, setting } = LANES[name as LaneName];
    const fix = `start a process with the role outbox and ${setting}`;
    log.warn(
      { lane: name, fix },
      `no process sends ${carries}: what waits for the ${name} lane goes on waiting`,
    );
  }
}

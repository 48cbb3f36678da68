/** Takes a report of what a user did or earned elsewhere, for the leaderboards. It never pays anything. */
import { readEventRules } from '../../ledger/brands/brands.ts';
import type { BusinessTime, Database, Queries } from '../../ledger/database/database.ts';
import { readTime } from '../../ledger/database/read-time.ts';
import { countActivity, nameBoardUser } from '../../ledger/engagement/count-activity.ts';
import { recordReport } from '../../ledger/engagement/reports.ts';
import { addUserActivity } from '../../ledger/engagement/user-activity.ts';
import type { Random } from '../../lib/ids.ts';
import type { Brand, BrandId } from '../../rules/brands/brand.ts';
import { activityKindOf } from '../../rules/engagement/activity-kind.ts';
import { isGrantType } from '../../rules/grant-types.ts';
import { admitWrite, type WriteRefusal, type Writer } from './admit-write.ts';

export interface StatsReport {
  brandId: BrandId;
  userKey: string;
  platform: string | undefined;
  /** Whole RWT. */
  rwtAmount: number;
  claimType: string | undefined;
  /** Messages, minutes in voice channels or reactions, where `claimType` says that it reports them. */
  count: number;
  displayName: string | undefined;
}

export interface UpdateStatsDeps {
  database: Database;
  businessTime: BusinessTime;
  random: Pick<Random, 'uuid'>;
  ownHosts: readonly string[];
}

/**
 * Counts the report as one activity. Its RWT are added to the user's, with a row of their own, unless `claimType` is an event
 * that the service pays: then the ledger counts them by itself. A `claimType` of chat activity adds `count` to what the user did.
 */
export async function updateStats(
  { database, businessTime, random, ownHosts }: UpdateStatsDeps,
  { report, writer }: { report: StatsReport; writer: Writer },
): Promise<{ counted: boolean } | { refusal: WriteRefusal }> {
  return database.atomically(async (tx) => {
    const { brandId, userKey, platform, rwtAmount: amount, claimType = null, displayName } = report;
    const admitted = await admitWrite(tx, { brandId, writer, ownHosts });
    if ('refusal' in admitted) return admitted;
    const { brand, withBrandKey } = admitted;
    const counted = amount > 0 && !(await isPaidHere(tx, report));
    const atMs = await readTime({ db: tx, now: businessTime() });
    const what = { brandId, userKey, platform, atMs, timeZone: zoneOf(brand) };
    if (counted) {
      const id = `rep_${random.uuid()}`;
      const of = { brandId, userKey, platform: platform ?? '', amount, claimType };
      await recordReport(tx, { id, ...of, withBrandKey, createdAt: atMs });
    }
    await countActivity(tx, [{ ...what, activity: 1, ...(counted && { rwtEarned: amount, claims: 1 }) }]);
    const kind = activityKindOf(claimType ?? undefined);
    if (kind) await addUserActivity(tx, { brandId, userKey, kind, count: report.count });
    await nameBoardUser(tx, { brandId, userKey, platform: platform ?? 'web', displayName });
    return { counted };
  });
}

const zoneOf = ({ profile }: Brand) => profile.timeZone ?? 'UTC';

async function isPaidHere(tx: Queries, { brandId, claimType }: StatsReport): Promise<boolean> {
  if (claimType === undefined) return false;
  if (isGrantType(claimType)) return true;
  const rules = await readEventRules(tx, { brandIds: [brandId], eventTypes: [claimType] });
  return rules.size > 0;
}

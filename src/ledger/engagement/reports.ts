/** Reports of RWT that users earned elsewhere: the trace of every score that no reward of this ledger explains. */
import type { Queries } from '../database/database.ts';
import { leaderboardReports } from '../schema/engagement/leaderboards.ts';

export async function recordReport(
  tx: Queries,
  report: typeof leaderboardReports.$inferInsert,
): Promise<void> {
  await tx.insert(leaderboardReports).values(report);
}

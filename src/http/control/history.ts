/** What was rewarded over time, and who led the boards, over the control API. */
import { readBoardHistory } from '../../actions/engagement/read-board-history.ts';
import { readHistory } from '../../actions/rewards/read-history.ts';
import { showBoardHistory, showHistory } from '../../contract/control/history.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { ClockState } from '../../lib/clock.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

export interface ControlHistoryDeps {
  database: Database;
  clockState: () => ClockState;
}

export const controlHistory = (deps: ControlHistoryDeps): ControlRoute[] => [
  controlHandler(showHistory, async ({ query: { range, brand } }) => {
    const read = await readHistory({ ...deps, nowMs: () => deps.clockState().nowMs }, { range, brand });
    if ('refusal' in read) return read;
    const { buckets, countedFromMs } = read;
    return {
      range,
      brandId: read.brandId,
      from: instant(read.fromMs),
      to: instant(read.toMs),
      bucketSeconds: read.bucketMs / 1_000,
      buckets: buckets.map(({ fromMs, rewards, rwt }) => ({ from: instant(fromMs), rewards, rwt })),
      totals: {
        rewards: buckets.reduce((sum, one) => sum + one.rewards, 0),
        rwt: buckets.reduce((sum, one) => sum + one.rwt, 0),
      },
      countedFrom: countedFromMs === null ? null : instant(countedFromMs),
    };
  }),
  controlHandler(showBoardHistory, ({ path, query }) =>
    readBoardHistory(deps, { brand: path.name, ...query }),
  ),
];

const instant = (ms: number) => new Date(ms).toISOString();

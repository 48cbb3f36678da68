/** What happens now and what needs a look, over the control API. */
import { type OverviewDeps, reportOverview } from '../../actions/report-overview.ts';
import { type Overview, showOverview } from '../../contract/control/overview.ts';
import type { ClockState } from '../../lib/clock.ts';
import { shownClock } from './clock.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

export interface ControlOverviewDeps extends Omit<OverviewDeps, 'nowMs'> {
  clockState: () => ClockState;
  /** How many requests were answered; absent where only the ledger is there. */
  counted?: (() => NonNullable<Overview['log']>) | undefined;
}

export const controlOverview = (deps: ControlOverviewDeps): ControlRoute[] => [
  controlHandler(showOverview, async () => ({
    clock: shownClock(deps.clockState()),
    ...(await reportOverview({ ...deps, nowMs: () => deps.clockState().nowMs })),
    log: deps.counted?.() ?? null,
  })),
];

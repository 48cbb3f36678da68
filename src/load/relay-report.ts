/** The result of a load test of the relay: the numbers, and whether they match the limit. */
import type { Latency, LatencyRecorder } from './latency.ts';
import type { Pace } from './pace.ts';
import type { ResetCheck } from './relay-reset.ts';
import type { HeaderCheck, RelayTally, Verdict } from './relay-tally.ts';
import type { RelayMetric, ThresholdResult } from './threshold.ts';

/** One answer, for plots. */
export interface Sample {
  /** Since the first call was sent. */
  atMs: number;
  tookMs: number;
  verdict: Verdict;
}

export interface RelayLoadOptions extends Pace {
  users: number;
  perUser: number;
  /** All from one address, to see the limit of addresses. */
  oneAddress: boolean;
  /** Whether the emulator's clock may be moved to the windows' end. */
  checkReset: boolean;
}

export interface RelayReport {
  users: number;
  perUser: number;
  oneAddress: boolean;
  sent: number;
  admitted: number;
  /** How many of the sent calls the limit admits. */
  expected: number;
  refused: number;
  failed: number;
  /** Failed calls, counted by status, code and reason. */
  failures: Record<string, number>;
  /** Calls admitted beyond the limit, and calls refused below it; summed over the users. */
  overAdmission: number;
  underAdmission: number;
  /** The limit by the headers: the user's, or with `oneAddress` the address's. */
  limit: number | null;
  durationMs: number;
  /** A window ended before the last answer, so the expected number is unknown. */
  outlasted: boolean;
  admittedPerSecond: number;
  /** Latency of admitted calls, until a block holds their transaction. */
  latencyMs: Latency;
  refusedLatencyMs: Latency;
  headers: HeaderCheck;
  /** Null when no window was seen to its end. */
  reset: ResetCheck | null;
  thresholds: ThresholdResult[];
  /** Not printed: only for the report with plots. */
  plots: { samples: Sample[]; curve: [number, number][]; admittedByUser: number[] };
}

export function relayReport(from: {
  wish: RelayLoadOptions;
  sent: number;
  durationMs: number;
  outlasted: boolean;
  tally: RelayTally;
  addressWindow: { limit: number; remaining: number } | undefined;
  admitted: LatencyRecorder;
  refused: LatencyRecorder;
  samples: Sample[];
  reset: ResetCheck | undefined;
}): RelayReport {
  const { wish, sent, durationMs, tally, addressWindow } = from;
  const { users } = tally;
  const counts = tally.read();
  const admittedByUser = users.map(({ admitted }) => admitted);
  const passedUserLimit = sum(admittedByUser);
  const refusedByUser = sum(users.map(({ refused }) => refused));
  const { admitted, expected, over, under } = wish.oneAddress
    ? byAddress({ passed: sent - counts.byAddress - counts.failed, sent, addressWindow })
    : byUser(users, { limit: counts.limit });
  return {
    users: wish.users,
    perUser: wish.perUser,
    oneAddress: wish.oneAddress,
    sent,
    admitted,
    expected,
    refused: wish.oneAddress ? counts.byAddress : refusedByUser + counts.byAddress,
    failed: counts.failed,
    failures: counts.failures,
    overAdmission: over,
    underAdmission: under,
    limit: (wish.oneAddress ? addressWindow?.limit : counts.limit) ?? null,
    durationMs: Math.round(durationMs),
    outlasted: from.outlasted,
    admittedPerSecond: Math.round((passedUserLimit / Math.max(1, durationMs)) * 10_000) / 10,
    latencyMs: from.admitted.read(),
    refusedLatencyMs: from.refused.read(),
    headers: counts.headers,
    reset: from.reset ?? null,
    thresholds: [],
    plots: { samples: from.samples, curve: from.admitted.curve(), admittedByUser },
  };
}

/** Each user may pass as often as the limit says, no more and no less. */
function byUser(users: RelayTally['users'], { limit }: { limit: number | undefined }) {
  const may = users.map(({ sent }) => Math.min(sent, limit ?? sent));
  const differences = users.map(({ admitted }, index) => admitted - (may[index] ?? 0));
  return {
    admitted: sum(users.map(({ admitted }) => admitted)),
    expected: sum(may),
    over: sum(differences.map((one) => Math.max(0, one))),
    under: sum(differences.map((one) => Math.max(0, -one))),
  };
}

/** All users together pass as often as their one address may. */
function byAddress(of: { passed: number; sent: number; addressWindow: { remaining: number } | undefined }) {
  const expected = Math.min(of.sent, of.addressWindow?.remaining ?? of.sent);
  return {
    admitted: of.passed,
    expected,
    over: Math.max(0, of.passed - expected),
    under: Math.max(0, expected - of.passed),
  };
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

/** The report's values by metric, for thresholds. */
export const metricsOf = (report: RelayReport): Record<RelayMetric, number | null> => ({
  over_admission: report.overAdmission,
  under_admission: report.underAdmission,
  sent: report.sent,
  admitted: report.admitted,
  refused: report.refused,
  failed: report.failed,
  header_problems: report.headers.count,
  reset_problems: report.reset?.count ?? 0,
  avg: report.latencyMs.mean,
  p50: report.latencyMs.p50,
  p90: report.latencyMs.p90,
  p95: report.latencyMs.p95,
  p99: report.latencyMs.p99,
  max: report.latencyMs.max,
  rate: report.admittedPerSecond,
});

/** Everything that shows that the limit does not hold, in words; empty when it holds. */
export function brokenRules(report: RelayReport): string[] {
  const { overAdmission, underAdmission, failed, failures, headers, reset } = report;
  const kinds = Object.entries(failures).map(([name, times]) => `${times} × ${name}`);
  if (report.outlasted) return ['a window ended during the run: send fewer calls, or more at once'];
  return [
    ...(overAdmission > 0 ? [`${overAdmission} calls passed beyond the limit`] : []),
    ...(underAdmission > 0 ? [`${underAdmission} calls were refused that the limit allows`] : []),
    ...(failed > 0 ? [`${failed} calls failed: ${kinds.join(', ')}`] : []),
    ...(headers.count > 0 ? [`${headers.count} headers are wrong: ${headers.problems[0]}`] : []),
    ...(reset && reset.count > 0 ? [`${reset.count} resets are wrong: ${reset.problems[0]}`] : []),
  ];
}

/** The result of a load test of events: the numbers, and whether they match the rules and the chain. */
import type { VerifyAnswer } from '../contract/control/mints.ts';
import type { Latency, LatencyRecorder } from './latency.ts';
import type { Pace } from './pace.ts';
import type { Sample } from './relay-report.ts';
import type { EventMetric, ThresholdResult } from './threshold.ts';

export interface EventsLoadOptions extends Pace {
  brandId: string;
  eventType: string;
  users: number;
  perUser: number;
}

/** Of one user, who had nothing before. */
export interface UserCount {
  sent: number;
  rewarded: number;
  /** RWT that the answers named, and RWT that the chain has. */
  promised: number;
  paid: number;
}

export interface EventsReport {
  eventType: string;
  users: number;
  perUser: number;
  sent: number;
  rewarded: number;
  /** How many of the sent events the rules allow: one of each user within a window. */
  expected: number;
  refused: number;
  refusals: Record<string, number>;
  failed: number;
  failures: Record<string, number>;
  /** Events rewarded beyond the rules, and refused though the rules allow them; summed over the users. */
  overAdmission: number;
  underAdmission: number;
  /** RWT: what the rules allow, what the answers named, and what the users have on chain. */
  payment: { allowed: number; promised: number; paid: number; over: number; under: number; settled: boolean };
  /** The audit of ledger and chain after the run; null where it could not be asked for. */
  ledger: { ok: boolean; differences: number; first: string | null } | null;
  durationMs: number;
  /** A window ended before the last answer, so the expected number is unknown. */
  outlasted: boolean;
  rewardedPerSecond: number;
  /** Of rewarded events, until a block holds their transaction. */
  latencyMs: Latency;
  refusedLatencyMs: Latency;
  thresholds: ThresholdResult[];
  /** Not printed: only for the report with plots. */
  plots: { samples: Sample[]; curve: [number, number][]; rewardedByUser: number[] };
}

export function eventsReport(from: {
  wish: EventsLoadOptions;
  /** RWT of one event. */
  reward: number;
  sent: number;
  durationMs: number;
  outlasted: boolean;
  users: readonly UserCount[];
  admitted: LatencyRecorder;
  refused: LatencyRecorder;
  samples: Sample[];
  settled: boolean;
  refusals: Record<string, number>;
  failures: Record<string, number>;
  audit: VerifyAnswer | undefined;
}): EventsReport {
  const { wish, reward, users, durationMs, audit } = from;
  const total = (number: (user: UserCount) => number) => users.reduce((sum, user) => sum + number(user), 0);
  const may = ({ sent }: UserCount) => Math.min(1, sent);
  const rewarded = total((user) => user.rewarded);
  return {
    eventType: wish.eventType,
    users: wish.users,
    perUser: wish.perUser,
    sent: from.sent,
    rewarded,
    expected: total(may),
    refused: sum(from.refusals),
    refusals: from.refusals,
    failed: sum(from.failures),
    failures: from.failures,
    overAdmission: total((user) => Math.max(0, user.rewarded - may(user))),
    underAdmission: total((user) => Math.max(0, may(user) - user.rewarded)),
    payment: {
      allowed: total(may) * reward,
      promised: total((user) => user.promised),
      paid: total((user) => user.paid),
      over: total((user) => Math.max(0, user.paid - may(user) * reward)),
      under: total((user) => Math.max(0, may(user) * reward - user.paid)),
      settled: from.settled,
    },
    ledger: audit
      ? { ok: audit.ok, differences: audit.differences.length, first: audit.differences[0]?.message ?? null }
      : null,
    durationMs: Math.round(durationMs),
    outlasted: from.outlasted,
    rewardedPerSecond: Math.round((rewarded / Math.max(1, durationMs)) * 10_000) / 10,
    latencyMs: from.admitted.read(),
    refusedLatencyMs: from.refused.read(),
    thresholds: [],
    plots: {
      samples: from.samples,
      curve: from.admitted.curve(),
      rewardedByUser: users.map((user) => user.rewarded),
    },
  };
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, one) => all + one, 0);

/** The report's values by metric, for thresholds. */
export const eventMetricsOf = (report: EventsReport): Record<EventMetric, number | null> => ({
  over_admission: report.overAdmission,
  under_admission: report.underAdmission,
  over_payment: report.payment.over,
  under_payment: report.payment.under,
  differences: report.ledger?.differences ?? null,
  sent: report.sent,
  admitted: report.rewarded,
  refused: report.refused,
  failed: report.failed,
  avg: report.latencyMs.mean,
  p50: report.latencyMs.p50,
  p90: report.latencyMs.p90,
  p95: report.latencyMs.p95,
  p99: report.latencyMs.p99,
  max: report.latencyMs.max,
  rate: report.rewardedPerSecond,
});

/** Everything that shows that rules or payments do not hold, in words; empty when they hold. */
export function brokenEventRules(report: EventsReport): string[] {
  const { overAdmission, underAdmission, payment, failed, failures, ledger } = report;
  if (report.outlasted) return ['a window ended during the run: send fewer events, or more at once'];
  const kinds = Object.entries(failures).map(([name, times]) => `${times} × ${name}`);
  return [
    ...(overAdmission > 0 ? [`${overAdmission} events were rewarded beyond the rules`] : []),
    ...(underAdmission > 0 ? [`${underAdmission} events were not rewarded that the rules allow`] : []),
    ...(payment.over > 0 ? [`${payment.over} RWT were paid beyond the rules`] : []),
    ...(payment.under > 0 ? [`${payment.under} RWT were not paid that the rules allow`] : []),
    ...(ledger && !ledger.ok
      ? [`ledger and chain differ: ${ledger.first ?? 'the audit is not complete'}`]
      : []),
    ...(failed > 0 ? [`${failed} events failed: ${kinds.join(', ')}`] : []),
  ];
}

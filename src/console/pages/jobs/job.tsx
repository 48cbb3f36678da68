/** One job: how far it is, plots of a load test as they come, steps of scenarios as they end, and the report. */
import type { Child } from 'hono/jsx';
import { type JobDetail, showJob } from '../../../contract/control/jobs.ts';
import { formatDuration } from '../../../lib/duration.ts';
import { lineThrough, stackedBars } from '../../../lib/plots/framed-plot.ts';
import { answerOf, type ConsolePage } from '../../page.ts';
import { Command } from '../../parts/action.tsx';
import { Plot } from '../../parts/plot.tsx';
import { Facts, Section, Table } from '../../parts/table.tsx';
import { Body, State, Text } from '../../parts/text.tsx';
import { JobState, progressText, StopJob } from './job-rows.tsx';

/** What a page can show; the report of `-o json` has all. */
const STEPS_SHOWN = 500;
const SECONDS_SHOWN = 300;

export const job: ConsolePage = {
  path: '/jobs/:id',
  async view(visit) {
    const shown = await answerOf(visit, showJob, { path: { job: visit.params.id ?? '' } });
    return {
      title: `${shown.kind === 'load' ? 'Load test' : 'Scenarios'} ${shown.id}`,
      body: (
        <>
          <Section title="How far it is" live="progress">
            <Progress of={shown} />
          </Section>
          <Command text={shown.command} />
          {shown.kind === 'load' ? (
            <>
              <Section title="Second by second" live="seconds">
                <Seconds of={shown.seconds.slice(-SECONDS_SHOWN)} />
              </Section>
              <Section title="Report" live="report">
                <LoadReport of={shown} />
              </Section>
            </>
          ) : (
            <Section title="Steps" live="steps">
              <Steps of={shown} />
            </Section>
          )}
        </>
      ),
    };
  },
};

const Progress = ({ of }: { of: JobDetail }): Child => (
  <>
    <Facts
      of={[
        ['state', <JobState of={of} />],
        ['how far', progressText(of)],
        ['began (by this machine)', of.startedAt],
        ...(of.endedAt === null
          ? []
          : ([['took', formatDuration(Date.parse(of.endedAt) - Date.parse(of.startedAt))]] as const)),
      ]}
    />
    {of.progress && (
      <progress max={Math.max(1, of.progress.of)} value={of.progress.done} aria-label="How far it is" />
    )}
    {of.problem && (
      <p class="notice bad">
        <Text of={of.problem.message} /> <code>{of.problem.code}</code> <Text of={of.problem.fix} />
      </p>
    )}
    <StopJob of={of} />
  </>
);

/** By the classes that plots of the console have. */
const KINDS = { rewarded: 'admitted', refused: 'refused', failed: 'failed' };

const Seconds = ({ of }: { of: JobDetail['seconds'] }): Child => {
  if (of.length === 0) return <p class="quiet">Its first second is not over.</p>;
  const bars = of.map(({ admitted, refused, failed }) => ({ rewarded: admitted, refused, failed }));
  const seconds = of.map(({ atMs }) => Math.round(atMs / 1_000));
  const x = {
    max: of.length,
    label: 'second',
    marks: [0, Math.floor(of.length / 2), of.length - 1].map(
      (place) => [place + 0.5, String(seconds[place])] as const,
    ),
  };
  const timed = of.flatMap(({ latencyMs: { p50, p99 } }, place) =>
    p50 === null || p99 === null ? [] : [{ place, p50, p99 }],
  );
  const points = (name: 'p50' | 'p99') => timed.map((one) => [one.place + 0.5, one[name]] as const);
  return (
    <>
      <Plot
        of={{
          title: 'Answers',
          x,
          y: {
            max: Math.max(1, ...bars.map((bar) => bar.rewarded + bar.refused + bar.failed)),
            label: 'answers',
          },
          content: (places) => stackedBars(bars, places),
        }}
        kinds={KINDS}
        columns={['second', ...Object.values(KINDS)]}
        rows={bars.map((bar, place) => [seconds[place] ?? 0, bar.rewarded, bar.refused, bar.failed])}
      />
      <Plot
        of={{
          title: 'Latency',
          x,
          y: { max: Math.max(1, ...timed.map(({ p99 }) => p99)), label: 'ms' },
          content: (places) =>
            lineThrough(points('p50'), places, 'line-1') + lineThrough(points('p99'), places, 'line-2'),
        }}
        kinds={{ 'line-1': 'half of them at most', 'line-2': '99 % of them at most' }}
        columns={['second', 'p50 ms', 'p99 ms']}
        rows={timed.map(({ place, p50, p99 }) => [seconds[place] ?? 0, p50, p99])}
      />
    </>
  );
};

/** What reports of both tests have: single numbers, and latencies by percentile. */
const LoadReport = ({ of: { report, state } }: { of: JobDetail }): Child => {
  if (report === null)
    return <p class="quiet">{state === 'running' ? 'At its end.' : 'It ended without one.'}</p>;
  const facts = Object.entries(report).flatMap(([name, value]): [string, Child][] =>
    typeof value === 'object' ? [] : [[wordsOf(name), <Text of={String(value)} />]],
  );
  const latencies = Object.entries(report).flatMap(([name, value]) =>
    /latencyMs$/i.test(name) && value !== null ? [{ name, of: value as Record<string, number | null> }] : [],
  );
  const thresholds = (report.thresholds ?? []) as { threshold: string; value: number | null; ok: boolean }[];
  return (
    <>
      <Facts of={facts} />
      <Table
        label="Latency in ms"
        columns={['ms', ...PERCENTILES.map((name) => ({ name, isNumber: true }))]}
        rows={latencies.map((row) => [
          row.name === 'latencyMs' ? 'admitted' : 'refused',
          ...PERCENTILES.map((name) => row.of[name] ?? '–'),
        ])}
        empty="Nothing was measured."
      />
      <Table
        label="Thresholds"
        columns={['threshold', { name: 'measured', isNumber: true }, 'holds']}
        rows={thresholds.map(({ threshold, value, ok }) => [
          <Text of={threshold} />,
          value ?? '–',
          ok ? <State is="good">yes</State> : <State is="bad">no</State>,
        ])}
        empty="No threshold was given."
      />
      <details>
        <summary>All of it</summary>
        <Body of={JSON.stringify(report)} label="The report" />
      </details>
    </>
  );
};

const PERCENTILES = ['p50', 'p90', 'p95', 'p99', 'max', 'mean'] as const;

/** `overAdmission` as `over admission`. */
const wordsOf = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const STATES = { passed: 'good', failed: 'bad', skipped: 'waiting' } as const;

const Steps = ({ of: { steps, leftOut } }: { of: JobDetail }): Child => {
  const shown = steps.slice(-STEPS_SHOWN);
  const earlier = leftOut + steps.length - shown.length;
  return (
    <>
      {earlier > 0 && <p class="quiet">{earlier} earlier steps are not shown.</p>}
      <Table
        label="Steps"
        columns={['step', 'result', { name: 'ms', isNumber: true }, 'by its clock', 'file']}
        rows={shown.map((step) => [
          <Text of={step.name} />,
          <>
            <State is={STATES[step.status]}>{step.status}</State> {step.message && <Text of={step.message} />}
          </>,
          step.durationMs,
          step.at ?? '–',
          <Text of={`${step.file}:${step.line}`} />,
        ])}
        empty="None has ended yet."
      />
    </>
  );
};

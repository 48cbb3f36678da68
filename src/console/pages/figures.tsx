/** Rewards over a chosen time, and what the latest requests and blocks come to: refusals, latency, gas a reward. */
import type { Child } from 'hono/jsx';
import { type BlockList, listBlocks } from '../../contract/control/chain.ts';
import { showHistory } from '../../contract/control/history.ts';
import { listRequests, type RequestSummary } from '../../contract/control/requests.ts';
import { type HistoryRange, historyRanges } from '../../lib/history-range.ts';
import { lineThrough, stackedBars } from '../../lib/plots/framed-plot.ts';
import { counted } from '../../lib/text/counted.ts';
import { shellOptions } from '../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, PageRefusal, type Visit } from '../page.ts';
import { Command, Field, Filter } from '../parts/action.tsx';
import { RewardsOverTime } from '../parts/history-plot.tsx';
import { Plot } from '../parts/plot.tsx';
import { Section } from '../parts/table.tsx';

/** As many as the log gives at once. */
const REQUESTS_READ = 500;
const BLOCKS_READ = 50;
/** Enough to see a change, few enough for a table. */
const SPANS = 24;

export const figures: ConsolePage = {
  path: '/figures',
  nav: 'Figures',
  async view(visit) {
    const { query } = visit;
    const wanted = { brand: query.brand || undefined, user: query.user || undefined };
    const range = query.range || 'day';
    const [history, { requests }, blocks] = await Promise.all([
      historyOf(visit, range),
      answerOf(visit, listRequests, { query: { ...wanted, limit: REQUESTS_READ } }),
      answerOf(visit, listBlocks, { query: { limit: BLOCKS_READ } }),
    ]);
    const spans = spansOf(requests);
    return {
      title: 'Figures',
      body: (
        <>
          <Filter label="Of whose requests">
            <Field name="brand" label="brand" value={query.brand} placeholder="id" />
            <Field name="user" label="user" value={query.user} placeholder="e-mail or address" />
            <Field name="range" label="rewards of the last" value={range} options={historyRanges} />
          </Filter>
          <Section title={`Rewards of the last ${range}, of all users`} live="history">
            {history === undefined ? <p class="quiet">No such brand.</p> : <RewardsOverTime of={history} />}
            <Command text={`rewards history${shellOptions({ range, brand: query.brand })}`} />
          </Section>
          <Section
            title={`Rewards and refusals of the latest ${counted(requests.length, 'request')}`}
            live="decisions"
          >
            {spans === undefined ? <p class="quiet">No request yet.</p> : <Decisions of={spans} />}
          </Section>
          <Section title="How long answers took" live="latency">
            {spans === undefined ? <p class="quiet">No request yet.</p> : <Latencies of={spans} />}
          </Section>
          <Section title={`Gas a reward, in the latest ${counted(blocks.blocks.length, 'block')}`} live="gas">
            <GasOfRewards of={blocks} />
          </Section>
        </>
      ),
    };
  },
};

/** Undefined where there is no such brand: its requests may still be in the log. */
const historyOf = (visit: Visit, range: string) =>
  // What is no range is refused by the API, in its words.
  answerOf(visit, showHistory, {
    query: { range: range as HistoryRange, brand: visit.query.brand || undefined },
  }).catch((error: unknown) => {
    if (error instanceof PageRefusal && error.status === 404) return undefined;
    throw error;
  });

/** Requests of a part of the time, all parts of one length. */
interface Spans {
  startMs: number;
  spanMs: number;
  parts: { rewarded: number; refused: number; failed: number; tookMs: number[] }[];
}

/** Undefined without a request. */
function spansOf(requests: readonly RequestSummary[]): Spans | undefined {
  const times = requests.map(({ at }) => Date.parse(at));
  const startMs = Math.min(...times);
  if (!Number.isFinite(startMs)) return undefined;
  const spanMs = Math.max(1, (Math.max(...times) - startMs) / SPANS);
  const parts = Array.from({ length: SPANS }, (): Spans['parts'][number] => ({
    rewarded: 0,
    refused: 0,
    failed: 0,
    tookMs: [],
  }));
  for (const { at, status, durationMs } of requests) {
    const part = parts[Math.min(SPANS - 1, Math.floor((Date.parse(at) - startMs) / spanMs))];
    if (!part) continue;
    part[status < 400 ? 'rewarded' : status < 500 ? 'refused' : 'failed'] += 1;
    part.tookMs.push(durationMs);
  }
  return { startMs, spanMs, parts };
}

const timeText = (ms: number) => new Date(ms).toISOString().slice(5, 19).replace('T', ' ');

/** Along the time: at its beginning, its middle and its end. */
const timeSide = ({ startMs, spanMs, parts }: Spans) => ({
  max: parts.length,
  label: 'time',
  marks: [1, parts.length / 2, parts.length - 1].map(
    (place) => [place, timeText(startMs + place * spanMs)] as const,
  ),
});

const KINDS = { rewarded: 'done', refused: 'refused', failed: 'failed' };

const Decisions = ({ of }: { of: Spans }): Child => {
  const bars = of.parts.map(({ rewarded, refused, failed }) => ({ rewarded, refused, failed }));
  const most = Math.max(1, ...bars.map((bar) => bar.rewarded + bar.refused + bar.failed));
  return (
    <Plot
      of={{
        title: 'Rewards and refusals',
        x: timeSide(of),
        y: { max: most, label: 'requests' },
        content: (places) => stackedBars(bars, places),
      }}
      kinds={KINDS}
      columns={['from', ...Object.values(KINDS)]}
      rows={bars.map((bar, place) => [
        timeText(of.startMs + place * of.spanMs),
        bar.rewarded,
        bar.refused,
        bar.failed,
      ])}
    />
  );
};

/** The smallest that so much of them do not exceed; undefined without any. */
function percentile(sorted: readonly number[], part: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)];
}

const Latencies = ({ of }: { of: Spans }): Child => {
  const rows = of.parts.flatMap(({ tookMs }, place) => {
    const sorted = [...tookMs].sort((one, other) => one - other);
    const [half, most] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
    return half === undefined || most === undefined ? [] : [{ place, half, most }];
  });
  const points = (name: 'half' | 'most') => rows.map((row) => [row.place + 0.5, row[name]] as const);
  return (
    <Plot
      of={{
        title: 'Latency',
        x: timeSide(of),
        y: { max: Math.max(1, ...rows.map(({ most }) => most)), label: 'ms' },
        content: (places) =>
          lineThrough(points('half'), places, 'line-1') + lineThrough(points('most'), places, 'line-2'),
      }}
      kinds={{ 'line-1': 'half of them at most', 'line-2': '99 % of them at most' }}
      columns={['from', 'p50 ms', 'p99 ms']}
      rows={rows.map(({ place, half, most }) => [timeText(of.startMs + place * of.spanMs), half, most])}
    />
  );
};

const GasOfRewards = ({ of: { blocks } }: { of: BlockList }): Child => {
  const paid = blocks
    .flatMap(({ number, transactions }) =>
      transactions.flatMap(({ payouts, gasUsed, hash }) =>
        payouts > 0 && gasUsed !== null
          ? [{ block: number, payouts, gas: Math.round(gasUsed / payouts), hash }]
          : [],
      ),
    )
    .reverse();
  if (paid.length === 0) return <p class="quiet">No block of them pays a reward.</p>;
  return (
    <Plot
      of={{
        title: 'Gas a reward',
        x: {
          max: paid.length,
          label: 'payouts, the oldest first',
          marks: [
            [0.5, `block ${paid[0]?.block}`],
            [paid.length - 0.5, `block ${paid.at(-1)?.block}`],
          ],
        },
        y: { max: Math.max(...paid.map(({ gas }) => gas)), label: 'gas' },
        content: (places) =>
          stackedBars(
            paid.map(({ gas }) => ({ gas })),
            places,
          ),
      }}
      columns={['block', 'rewards', 'gas of each']}
      rows={paid.map(({ block, payouts, gas }) => [block, payouts, gas])}
    />
  );
};

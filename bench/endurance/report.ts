/** What a long load showed: memory and latency by minute, and whether they are level. */

import { drawPlot } from '../../src/lib/plots/line-plot.ts';
import type { Latencies } from '../load/load.ts';
import type { Picture } from '../report/pictures.ts';
import { median, rounded } from '../report/statistics.ts';
import type { ResidentSample } from './resident.ts';
import { type Trend, thinned, trendOf } from './trend.ts';

/** Resident memory may rise by a tenth from the end of the first sixth to the end: room that V8 keeps for garbage moves it by some percent. */
const MEMORY_LIMIT = 0.1;
/** The p99 of a minute hangs on its few slowest answers: the line through all minutes may rise by a quarter. */
const P99_LIMIT = 0.25;
/** Caches fill and code is compiled at first: that share of the time is not looked at. */
const SETTLING = 1 / 6;

export interface Endurance {
  /** Events a second that arrived. */
  rate: number;
  answered: number;
  problems: string[];
  samples: ResidentSample[];
  minutes: Latencies[];
  memory: Trend;
  p99: Trend;
}

export function enduranceOf(seen: Omit<Endurance, 'memory' | 'p99'>): Endurance {
  const later = <Value>(values: Value[]) => values.slice(Math.floor(values.length * SETTLING));
  // The last minute is cut short by the end of the load when the answers come late.
  const minutes = seen.minutes.filter(({ answered }) => answered >= seen.rate * 30);
  const held = later(thinned(seen.samples, 400)).map(({ serviceMb }) => serviceMb);
  return {
    ...seen,
    memory: trendOf(held, MEMORY_LIMIT),
    p99: trendOf(
      later(minutes).map(({ p99Ms }) => p99Ms),
      P99_LIMIT,
    ),
  };
}

const verdict = (name: string, { growth, limit, isLevel }: Trend) =>
  `${name}: ${isLevel ? 'level' : 'not level'}; the line through it changes by ${rounded(growth * 100, 2)} %, and may rise by ${limit * 100} %.`;

export function enduranceText(found: Endurance): string {
  const { rate, answered, samples, minutes, problems } = found;
  const middle = (values: number[]) => rounded(median(values));
  const held = samples.map(({ serviceMb }) => serviceMb);
  return [
    `${rate.toLocaleString('en-US')} events a second arrived for ${minutes.length} minutes; ${answered.toLocaleString('en-US')} were answered with 200. ${problems.join(' ')}`.trim(),
    `Latency, the middle of the minutes: p50 ${middle(minutes.map(({ p50Ms }) => p50Ms))} ms, p99 ${middle(minutes.map(({ p99Ms }) => p99Ms))} ms.`,
    verdict('p99 by minute', found.p99),
    `Resident memory of the service: ${middle(held)} MB in the middle, ${rounded(Math.max(0, ...held))} MB at most; the stand-in for the node, which keeps every payout, ended with ${rounded(samples.at(-1)?.chainMb ?? 0)} MB.`,
    verdict('Resident memory', found.memory),
  ].join('\n');
}

export function endurancePictures({ samples, minutes }: Endurance): Picture[] {
  const memory = thinned(samples, 300);
  const inMinutes = { label: 'minutes', scale: 'linear' as const };
  return [
    {
      name: 'endurance-memory',
      svg: drawPlot({
        title: 'Resident memory at half load',
        x: inMinutes,
        y: { label: 'MB' },
        series: [
          { name: 'service', points: memory.map((one) => ({ x: one.seconds / 60, y: one.serviceMb })) },
          { name: 'node', points: memory.map((one) => ({ x: one.seconds / 60, y: one.chainMb })) },
        ],
      }),
    },
    {
      name: 'endurance-latency',
      svg: drawPlot({
        title: 'Latency at half load, minute by minute',
        x: inMinutes,
        y: { label: 'ms' },
        series: [
          { name: 'p50', points: minutes.map((one, minute) => ({ x: minute + 1, y: one.p50Ms })) },
          { name: 'p99', points: minutes.map((one, minute) => ({ x: minute + 1, y: one.p99Ms })) },
        ],
      }),
    },
  ];
}

/** The pictures of docs/performance.md, as far as their figures were measured. */

import { drawPlot } from '../../src/lib/plots/line-plot.ts';
import type { Found } from '../groups/found.ts';
import { median } from './statistics.ts';

export interface Picture {
  /** Of its file: docs/images/performance-<name>.svg. */
  name: string;
  svg: string;
}

export function plotsOf(found: Found): Picture[] {
  const { concurrency, latency, growth, gas, replicas } = found;
  return [
    ...(concurrency ? ofConcurrency(concurrency) : []),
    ...(latency ? [ofLatency(latency)] : []),
    ...(growth ? [ofGrowth(growth)] : []),
    ...(gas ? ofGas(gas) : []),
    ...(replicas ? [ofReplicas(replicas)] : []),
  ];
}

function ofConcurrency(found: NonNullable<Found['concurrency']>): Picture[] {
  const x = { label: 'callers, each with one request at a time', scale: 'places' as const };
  const throughput = drawPlot({
    title: 'Rewarded events a second, by callers',
    x,
    y: { label: 'events/s' },
    series: [
      { name: 'rewards start, SQLite', points: found.map((one) => ({ x: one.callers, y: one.perSecond })) },
    ],
  });
  const latency = drawPlot({
    title: 'Latency of an event when callers send as soon as they are answered',
    x,
    y: { label: 'ms' },
    series: [
      { name: 'p50', points: found.map((one) => ({ x: one.callers, y: one.p50Ms })) },
      { name: 'p99', points: found.map((one) => ({ x: one.callers, y: one.p99Ms })) },
    ],
  });
  return [
    { name: 'concurrency', svg: throughput },
    { name: 'concurrency-latency', svg: latency },
  ];
}

function ofLatency(found: NonNullable<Found['latency']>): Picture {
  const values = [found.p50Ms, found.p90Ms, found.p99Ms, found.p999Ms, found.maxMs];
  const svg = drawPlot({
    title: `Latency at half load: ${found.perSecond.toLocaleString('en-US')} events arrive a second`,
    x: { label: 'percentile', scale: 'places', names: ['p50', 'p90', 'p99', 'p99.9', 'longest'] },
    y: { label: 'ms from when it should have been sent' },
    series: [{ name: 'event answered', points: values.map((y, x) => ({ x, y })) }],
  });
  return { name: 'latency', svg };
}

function ofGrowth(found: NonNullable<Found['growth']>): Picture {
  const svg = drawPlot({
    title: 'Rewarded events a second, by claims that the ledger holds',
    x: { label: 'claims stored before', scale: 'log' },
    y: { label: 'events/s' },
    series: [
      {
        name: 'rewards start, SQLite',
        points: found.map((one) => ({ x: one.claims, y: median(one.rounds.rate) })),
      },
    ],
  });
  return { name: 'growth', svg };
}

function ofGas(found: NonNullable<Found['gas']>): Picture[] {
  const x = { label: 'rewards in a transaction', scale: 'places' as const };
  const gas = drawPlot({
    title: 'Gas for one reward, by size of batch',
    x,
    y: { label: 'gas' },
    series: [
      { name: 'a reward', points: found.map((one) => ({ x: one.batch, y: one.gas / one.batch })) },
      {
        name: 'a transfer in a plain batch',
        points: found.map((one) => ({ x: one.batch, y: one.baselineGas / one.batch })),
      },
    ],
  });
  const calldata = drawPlot({
    title: 'Calldata of one reward, by size of batch',
    x,
    y: { label: 'bytes' },
    series: [
      { name: 'a reward', points: found.map((one) => ({ x: one.batch, y: one.calldataBytes / one.batch })) },
    ],
  });
  return [
    { name: 'gas', svg: gas },
    { name: 'calldata', svg: calldata },
  ];
}

function ofReplicas(found: NonNullable<Found['replicas']>): Picture {
  const svg = drawPlot({
    title: 'Rewarded events a second, by processes on one Postgres',
    x: { label: 'processes, all on this machine', scale: 'places' },
    y: { label: 'events/s' },
    series: [
      {
        name: 'rewards start, Postgres',
        points: found.map((one) => ({ x: one.processes, y: one.perSecond })),
      },
    ],
  });
  return { name: 'replicas', svg };
}

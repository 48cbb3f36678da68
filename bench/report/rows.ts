/** What a run found: rows held against their targets. */
import type { Found, Rounds } from '../groups/found.ts';
import { median, rounded } from './statistics.ts';
import { type RowId, targetOf } from './targets.ts';

export interface Row {
  id: RowId;
  value: number;
  unit: string;
  /** The same unit, measured in the same run; null: the target is for the value itself. */
  baseline: number | null;
  /** value / baseline. */
  ratio: number | null;
  target: number;
  met: boolean;
}

/** The batch whose gas and calldata have a target. */
const BATCH = 200;

/** `also`: what has to be so beside the target. */
function rowOf(id: RowId, measured: number, base: number | null = null, also = true): Row {
  const target = targetOf(id);
  const ratio = base === null ? null : measured / base;
  const held = target.kind === 'ratio' ? (ratio ?? Number.NaN) : measured;
  return {
    id,
    value: rounded(measured),
    unit: target.unit,
    baseline: base === null ? null : rounded(base),
    ratio: ratio === null ? null : rounded(ratio),
    target: 'least' in target ? target.least : target.most,
    met: also && ('least' in target ? held >= target.least : held <= target.most),
  };
}

/** The rows whose loads were measured. */
export function rowsOf(found: Found): Row[] {
  return [
    ...rateRows(found.rounds),
    ...latencyRows(found),
    ...sizeRows(found),
    ...startRows(found),
    ...consoleRows(found),
  ];
}

function rateRows(rounds: Found['rounds']): Row[] {
  const { naive, events, raw, relays, instant, postgres } = rounds;
  const rate = (id: RowId, ours: Rounds | undefined, base: Rounds | undefined) =>
    ours && base ? [rowOf(id, median(ours.rate), median(base.rate))] : [];
  return [
    ...rate('events-sqlite', events, naive),
    ...rate('events-instant', instant, rounds['naive-instant']),
    ...rate('events-postgres', postgres, rounds['naive-postgres']),
    ...rate('events-vs-chain', events, raw),
    ...rate('relay-vs-chain', relays, raw),
    ...rate('relay-vs-chain-many', rounds['relays-many'], raw),
    ...(events ? [rowOf('cpu-per-event', median(events.cpuMsEach))] : []),
    ...(relays ? [rowOf('cpu-per-relay', median(relays.cpuMsEach))] : []),
  ];
}

const latencyRows = ({ latency }: Found): Row[] =>
  latency ? [rowOf('latency-p50', latency.p50Ms), rowOf('latency-p99', latency.p99Ms)] : [];

function sizeRows({ growth, gas, memory, verify }: Found): Row[] {
  const [smallest, largest] = [growth?.[0], growth?.at(-1)];
  const batch = gas?.find((one) => one.batch === BATCH);
  return [
    ...(smallest && largest
      ? [rowOf('growth', median(largest.rounds.rate), median(smallest.rounds.rate))]
      : []),
    ...(batch
      ? [
          rowOf('gas-per-reward', batch.gas / BATCH, batch.baselineGas / BATCH),
          rowOf('calldata-per-reward', batch.calldataBytes / BATCH),
        ]
      : []),
    ...(memory ? [rowOf('memory', memory.residentMb, null, memory.trend.isLevel)] : []),
    ...(verify
      ? [
          rowOf('verify', verify.seconds, null, verify.leasesLost === 0 && verify.differences === 0),
          rowOf('verify-memory', verify.peakMb),
        ]
      : []),
  ];
}

/** What a page holds may grow by so much: documents of other lengths, and what V8 compiles while it is open. */
const HEAP_GROWTH_MAX = 0.1;

function consoleRows({ consoleOpen: found }: Found): Row[] {
  if (!found) return [];
  const growth = median(found.heapKb.map(({ before, after }) => after / before - 1));
  const isWell =
    growth <= HEAP_GROWTH_MAX &&
    found.streams.every(({ opened, alive }) => opened === alive) &&
    found.drawn.every((times) => times > 1);
  return [
    rowOf('console-open', median(found.open), median(found.closed), isWell),
    rowOf('console-click', median(found.interactionMs)),
  ];
}

const startRows = ({ starts }: Found): Row[] =>
  starts ? [rowOf('serve-ready', median(starts.serve) / 1_000), rowOf('help', median(starts.help))] : [];

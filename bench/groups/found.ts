/** What the groups found, as far as they were measured: rows, tables and plots come from it. */
import type { Trend } from '../endurance/trend.ts';
import type { BatchCost } from '../gas/measure-gas.ts';
import type { Latencies } from '../load/load.ts';

/** Several rounds of one measurement; rates are per second. */
export interface Rounds {
  rate: number[];
  /** Processor milliseconds of the measured process for one piece of work. */
  cpuMsEach: number[];
  /** Share of one processor that each process had, the generator's among them: 1 is a whole one. */
  busy: Record<string, number[]>;
  p50Ms: number[];
  p99Ms: number[];
}

export interface Found {
  rounds: Partial<Record<string, Rounds>>;
  /** What the generator manages against a server that only answers, and how busy it is then. */
  generator?: { perSecond: number; busy: number; serverBusy: number };
  /** Events that arrive at half of the highest rate. */
  latency?: Latencies & { perSecond: number; callers: number };
  /** By callers. */
  concurrency?: { callers: number; perSecond: number; p50Ms: number; p99Ms: number }[];
  /** By processes on one Postgres. */
  replicas?: { processes: number; perSecond: number; p99Ms: number }[];
  /** By claims that the ledger held before. */
  growth?: { claims: number; rounds: Rounds }[];
  /** The ledger of `growth` compared with its chain, while events were taken. */
  verify?: { rewards: number; seconds: number; peakMb: number; leasesLost: number; differences: number };
  gas?: BatchCost[];
  /** Milliseconds of each start. */
  starts?: { serve: number[]; help: number[]; node: number[] };
  memory?: { events: number; residentMb: number; trend: Trend };
  consoleOpen?: ConsoleOpen;
}

/** The same events of `serve` with its console closed and open: events a second of each round. */
export interface ConsoleOpen {
  closed: number[];
  open: number[];
  /** Processor milliseconds of the service for one event, which other work on the machine hardly moves. */
  cpuMsEach: { closed: number[]; open: number[] };
  /** What its pages held when they were opened, and after a round's events; both after a collection. */
  heapKb: { before: number; after: number }[];
  /** Streams of changes at the end of a round. */
  streams: { opened: number; alive: number }[];
  /** How often the view at the terminal was drawn during a round. */
  drawn: number[];
  /** From each click to the picture of what it led to. */
  interactionMs: number[];
}

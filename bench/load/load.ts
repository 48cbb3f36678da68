/** What the load generator is asked for, and what it answers. */

/** What callers send. `new users`: a body with a number that nobody had before in place of `{n}`. `list`: lines of a file. */
export type Requests =
  | { kind: 'new users'; body: string }
  /**
   * Each line is `{body, headers?}`, sent `each` times in all; caller c has the lines c, c + callers, … in order, and
   * sends `inOneLoad` of them in one load, if that is said.
   */
  | { kind: 'list'; file: string; each: number; inOneLoad?: number };

export interface Load {
  /** Callers take them in turn. */
  urls: string[];
  requests: Requests;
  headers: Record<string, string>;
  /** Connections, each with one request at a time. */
  callers: number;
  /** Nobody sends another request after so long. */
  seconds: number;
  /** Nor after so many requests. */
  most?: number;
  /**
   * Requests a second that arrive whatever the answers do (an open loop): a request that waits for a connection waits
   * as its user would, and its latency counts from when it should have been sent. Without it every caller sends when
   * it has been answered (a closed loop).
   */
  perSecond?: number;
  /** Latencies are also told for every span of so many seconds. */
  spanSeconds?: number;
}

/** Milliseconds from sending (in an open loop: from when it should have been sent) to the last byte of the answer. */
export interface Latencies {
  answered: number;
  p50Ms: number;
  p90Ms: number;
  p99Ms: number;
  p999Ms: number;
  maxMs: number;
}

export interface LoadResult extends Latencies {
  /** Of all answers but those with 200: how many by status, and the first body. */
  others: Record<string, number>;
  firstOther?: string;
  /** From the first request to the last answer. */
  elapsedMs: number;
  /** Processor time of the generator meanwhile. */
  cpuMs: number;
  spans: Latencies[];
}

/** Carries out one load: a closed loop, in which each caller sends when it was answered, or an open one at a fixed rate. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type Connection, openConnection } from './connection.ts';
import { gatherLatencies } from './latencies.ts';
import type { Load, LoadResult } from './load.ts';
import { headerText, nextRequest } from './next-request.ts';

/** How often an open loop looks which requests are due: what it adds to a latency at most. */
const TICK_MS = 1;

interface Running {
  load: Load;
  startedAt: number;
  /** Sends one request of a caller; undefined when there is nothing more for it. */
  send(caller: number, turn: number): Promise<Answer> | undefined;
  /** Counts an answer to what should have been sent at `dueAt`. */
  count(answer: Answer, dueAt: number): void;
}

export async function runLoad(load: Load): Promise<LoadResult> {
  const startedAt = performance.now();
  const latencies = gatherLatencies(startedAt, load.spanSeconds);
  const others: Record<string, number> = {};
  let firstOther: string | undefined;
  const callers = callersOf(load);
  const running: Running = {
    load,
    startedAt,
    send(caller, turn) {
      const next = nextRequest(load, { caller, turn });
      return next && callers.post(caller, next);
    },
    count({ status, text }, dueAt) {
      const now = performance.now();
      // A node answers 200 with an error in the body.
      if (status === 200 && !text.includes('"error":{')) latencies.record(now - dueAt, now);
      else {
        others[status] = (others[status] ?? 0) + 1;
        firstOther ??= text.slice(0, 300);
      }
    },
  };
  const cpu = process.cpuUsage();
  await (load.perSecond ? openLoop(running, load.perSecond) : closedLoop(running));
  const elapsedMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  callers.close();
  return {
    ...latencies.found(),
    others,
    elapsedMs,
    cpuMs: (user + system) / 1_000,
    ...(firstOther !== undefined && { firstOther }),
  };
}

/** A connection for each caller, opened when it first sends. */
function callersOf(load: Load) {
  const urls = load.urls.map((url) => new URL(url));
  const shared = headerText({ 'content-type': 'application/json', ...load.headers });
  const connections: Connection[] = [];
  return {
    post(caller: number, { body, headers }: { body: string; headers: string }) {
      const { hostname, port, pathname } = urls[caller % urls.length] as URL;
      const connection = connections[caller] ?? openConnection({ host: hostname, port: Number(port) });
      connections[caller] = connection;
      return connection.post(pathname, shared + headers, body);
    },
    close() {
      for (const connection of connections) connection?.close();
    },
  };
}

async function closedLoop({ load, startedAt, send, count }: Running): Promise<void> {
  const endsAt = startedAt + load.seconds * 1_000;
  let left = load.most ?? Number.POSITIVE_INFINITY;
  const caller = async (index: number) => {
    for (let turn = 0; ; turn++) {
      const now = performance.now();
      if (now >= endsAt || left-- <= 0) return;
      const answer = await send(index, turn);
      if (!answer) return;
      count(answer, now);
    }
  };
  await Promise.all(Array.from({ length: load.callers }, (_, index) => caller(index)));
}

async function openLoop({ load, startedAt, send, count }: Running, perSecond: number): Promise<void> {
  const total = Math.min(load.most ?? Number.POSITIVE_INFINITY, Math.floor(load.seconds * perSecond));
  const dueAt = (place: number) => startedAt + (place * 1_000) / perSecond;
  const idle = Array.from({ length: load.callers }, (_, index) => index);
  const turns = new Uint32Array(load.callers);
  const waiting: number[] = [];
  let taken = 0;
  const nextWaiting = () => (taken < waiting.length ? waiting[taken++] : undefined);
  const underWay = new Set<Promise<void>>();
  const work = async (caller: number, first: number) => {
    for (let place: number | undefined = first; place !== undefined; place = nextWaiting()) {
      const turn = turns[caller] ?? 0;
      turns[caller] = turn + 1;
      const answer = await send(caller, turn);
      if (answer) count(answer, dueAt(place));
    }
    idle.push(caller);
  };
  const start = (place: number) => {
    const caller = idle.pop();
    if (caller === undefined) waiting.push(place);
    else {
      const working: Promise<void> = work(caller, place).finally(() => underWay.delete(working));
      underWay.add(working);
    }
  };
  for (let issued = 0; issued < total; ) {
    const now = performance.now();
    while (issued < total && dueAt(issued) <= now) start(issued++);
    await delay(TICK_MS);
  }
  await Promise.all(underWay);
}

/** The load generator, a process of its own: so many callers, each with a connection that is kept and one request at a time. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';

/** What callers send. `new users`: a body with a number that nobody had before in place of `{n}`. `list`: lines of a file. */
export type Requests =
  | { kind: 'new users'; body: string }
  /**
   * Each line is `{body, headers?}`, sent `each` times in all; caller c has the lines c, c + callers, … in order, and
   * sends `inOneLoad` of them in one load, if that is said.
   */
  | { kind: 'list'; file: string; each: number; inOneLoad?: number };

export interface Load {
  url: string;
  requests: Requests;
  headers: Record<string, string>;
  callers: number;
  /** Nobody sends another request after so long. */
  seconds: number;
}

export interface LoadResult {
  /** Answers with status 200. */
  answered: number;
  /** Of all other answers: how many by status, and the first body. */
  others: Record<string, number>;
  firstOther?: string;
  /** From the first request to the last answer. */
  elapsedMs: number;
  /** Processor time of the generator meanwhile. */
  cpuMs: number;
  p50Ms: number;
  p99Ms: number;
}

interface Prepared {
  body: string;
  headers?: Record<string, string>;
}

let users = 0;
let sent = 0;
const lists = new Map<string, { lines: Prepared[]; next: number[] }>();

/** The relay counts requests by address: a new one every 50 requests (198.18.0.0/15 is set aside for tests). */
function forwardedFor(): string {
  const place = Math.floor(sent++ / 50) % 2 ** 17;
  return `198.${18 + (place >> 16)}.${(place >> 8) & 255}.${place & 255}`;
}

function nextRequest(of: Load, caller: number, turnOfLoad: number): Prepared | undefined {
  if (of.requests.kind === 'new users') return { body: of.requests.body.replace('{n}', String(users++)) };
  const { file, each, inOneLoad = Number.POSITIVE_INFINITY } = of.requests;
  if (turnOfLoad >= inOneLoad) return undefined;
  let list = lists.get(file);
  if (!list) {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    list = { lines: lines.map((line) => JSON.parse(line)), next: [] };
    lists.set(file, list);
  }
  const turn = list.next[caller] ?? 0;
  list.next[caller] = turn + 1;
  return list.lines[Math.floor(turn / each) * of.callers + caller];
}

function post(agent: Agent, url: URL, headers: Record<string, string>, body: string) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const options = {
      agent,
      method: 'POST',
      host: url.hostname,
      port: url.port,
      path: url.pathname,
      headers,
    };
    const sending = request(options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
      );
      response.on('error', reject);
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

async function run(load: Load): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.callers });
  const url = new URL(load.url);
  const latencies: number[] = [];
  const others: Record<string, number> = {};
  let firstOther: string | undefined;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const endsAt = startedAt + load.seconds * 1_000;
  const caller = async (index: number) => {
    for (let turn = 0, now = startedAt; now < endsAt; turn++, now = performance.now()) {
      const next = nextRequest(load, index, turn);
      if (!next) return;
      const headers = {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(next.body)),
        'x-forwarded-for': forwardedFor(),
        ...load.headers,
        ...next.headers,
      };
      const { status, text } = await post(agent, url, headers, next.body).catch((error: Error) => ({
        status: 0,
        text: error.message,
      }));
      // A node answers 200 with an error in the body.
      const isGood = status === 200 && !text.includes('"error":{');
      if (isGood) latencies.push(performance.now() - now);
      else {
        others[status] = (others[status] ?? 0) + 1;
        firstOther ??= text.slice(0, 300);
      }
    }
  };
  await Promise.all(Array.from({ length: load.callers }, (_, index) => caller(index)));
  const elapsedMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  agent.destroy();
  latencies.sort((one, other) => one - other);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    ...{ answered: latencies.length, others, elapsedMs, cpuMs: (user + system) / 1_000 },
    ...{ p50Ms: at(0.5), p99Ms: at(0.99) },
    ...(firstOther !== undefined && { firstOther }),
  };
}

process.on('message', (load: Load) => {
  run(load).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());

/** `npm run bench -- memory`: what `rewards serve` holds in memory after each so many events, and after a rest. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { readOptions } from '../options.ts';

const options = readOptions('memory', {
  events: { type: 'string', default: '200000', help: 'events in all' },
  every: { type: 'string', default: '20000', help: 'events between two looks at the memory' },
  callers: { type: 'string', default: '16', help: 'connections, each with one request at a time' },
  bulk: { type: 'string', default: '40', help: 'events of every second request; the others have one' },
  rest: { type: 'string', default: '30', help: 'seconds without an event at the end' },
  dir: { type: 'string', default: tmpdir(), help: 'where the ledger is' },
});
const [events, every, callers, bulk, restSeconds] = [
  ...[options.events, options.every, options.callers, options.bulk, options.rest].map(Number),
] as [number, number, number, number, number];
const program =
  process.env.REWARDS_BENCH_PROGRAM ?? new URL('../../bin/rewards.js', import.meta.url).pathname;
const brandId = `0x${'b1'.repeat(20)}`;
const seed = `brands:
  - name: Many
    brandId: "${brandId}"
    domains: [many.example]
    domainless: allow
    escrow: ${events * 20}
    events:
      form_submit: { reward: 10, maxClaims: unlimited, cooldown: 0 }
`;

interface Held {
  rss: number;
  heapUsed: number;
  external: number;
}

async function startServe(folder: string) {
  const file = join(folder, 'seed.yaml');
  writeFileSync(file, seed);
  const args = ['serve', '-o', 'json', '--port', '0', '--rpc-port', '0'];
  const child = fork(program, [...args, '--seed', file, '--persist-to', join(folder, 'data')], {
    cwd: folder,
    execArgv: ['--expose-gc', '--import', new URL('./report-memory.mjs', import.meta.url).href],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('REWARDS_'))),
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const [line] = await Promise.race([once(createInterface({ input: child.stdout as never }), 'line'), ended]);
  const ready = JSON.parse(String(line)) as { urls: { events: string } };
  return {
    url: ready.urls.events,
    pid: child.pid ?? 0,
    held: () => held(child),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function held(child: ChildProcess): Promise<Held> {
  const answer = once(child, 'message');
  child.send('report');
  return (await answer)[0] as Held;
}

/** Resident memory of a process's children and theirs: of Anvil and the two shells that guard it. */
function residentBelow(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children.reduce((sum, child) => {
    const pages = Number(readFileSync(`/proc/${child}/statm`, 'utf8').split(' ')[1]);
    return sum + pages * 4_096 + residentBelow(Number(child));
  }, 0);
}

let users = 0;
const event = () => ({ brandId, eventType: 'form_submit', userEmail: `user-${users++}@people.example` });

function post(agent: Agent, url: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sending = request(url, { agent, method: 'POST', headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => resolve(Buffer.concat(parts).toString()));
      response.on('error', reject);
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

/** Sends until `upTo` users have had their event; throws at the first that was not rewarded. */
async function sendUpTo(upTo: number, { agent, url }: { agent: Agent; url: string }): Promise<void> {
  const caller = async () => {
    for (let turn = 0; users < upTo; turn++) {
      const many = Math.min(turn % 2 === 0 ? 1 : bulk, upTo - users);
      const all = Array.from({ length: many }, event);
      const path = many === 1 ? 'manual-event' : 'bulk-events';
      const text = await post(
        agent,
        `${url}/rewards-api/${path}`,
        JSON.stringify(many === 1 ? all[0] : { events: all }),
      );
      const answer = JSON.parse(text) as { success: boolean; processed?: number };
      if (!answer.success || (answer.processed ?? 1) !== many) throw new Error(text.slice(0, 500));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

const mb = (bytes: number) => String(Math.round(bytes / 2 ** 20)).padStart(8);

const folder = await mkdtemp(join(options.dir, 'rewards-bench-memory-'));
const serve = await startServe(folder);
const agent = new Agent({ keepAlive: true, maxSockets: callers });
let largest = 0;
const sampling = setInterval(() => {
  const pages = Number(readFileSync(`/proc/${serve.pid}/statm`, 'utf8').split(' ')[1]);
  largest = Math.max(largest, pages * 4_096);
}, 100);
try {
  console.log('  events  events/s  largest  resident   heap  outside  anvil  load');
  const look = async (name: string, perSecond: number) => {
    const largestSince = largest;
    const now = await serve.held();
    const held = [largestSince, now.rss, now.heapUsed, now.external, residentBelow(serve.pid)].map(mb);
    console.log(
      `${name.padStart(8)}  ${String(Math.round(perSecond)).padStart(8)} ${held.join(' ')}  ${loadavg()[0]?.toFixed(1)}`,
    );
    largest = 0;
  };
  await look('0', 0);
  for (let upTo = every; upTo <= events; upTo += every) {
    const startedAt = performance.now();
    await sendUpTo(upTo, { agent, url: serve.url });
    await look(String(upTo), every / ((performance.now() - startedAt) / 1_000));
  }
  await delay(restSeconds * 1_000);
  await look('rest', 0);
} finally {
  clearInterval(sampling);
  agent.destroy();
  await serve.stop();
  await rm(folder, { recursive: true, force: true });
}

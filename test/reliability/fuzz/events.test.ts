/** Whatever is sent, the service answers, stores nothing unclean, and stays as it is. */
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ContractService, shop, startContractService } from '../../contract/kit.ts';
import { someone } from '../../kits/service/service.ts';
import { type FuzzedRequest, fuzzedRequest } from './requests.ts';

/** CI sends 100,000. */
const RUNS = Number(process.env.REWARDS_FUZZ_RUNS ?? 5_000);
const AT_ONCE = 64;

let service: ContractService;
const rejections: unknown[] = [];
const remember = (reason: unknown) => rejections.push(reason);
beforeAll(async () => {
  process.on('unhandledRejection', remember);
  service = await startContractService();
});
afterAll(async () => {
  process.off('unhandledRejection', remember);
  await service?.stop();
});

interface Reply {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

/** Written with Node's own client: `fetch` would not send half of these. */
function send(fuzzed: FuzzedRequest, agent: Agent): Promise<Reply> {
  const { hostname, port } = new URL(service.ready.urls.events);
  return new Promise((resolve, reject) => {
    const { method, path, headers, body } = fuzzed;
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const outgoing = request(
      { agent, hostname, port, method, path, headers: { ...headers, ...length } },
      (reply) => {
        const chunks: Buffer[] = [];
        reply.on('data', (chunk) => chunks.push(chunk));
        reply.on('end', () => {
          resolve({
            status: reply.statusCode ?? 0,
            headers: reply.headers,
            body: Buffer.concat(chunks).toString(),
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** What is wrong with a reply; undefined when nothing is. */
function fault(fuzzed: FuzzedRequest, reply: Reply): string | undefined {
  if (reply.status >= 500 && !isDocumented(reply)) return `status ${reply.status}`;
  const fromService = reply.headers['x-request-id'] !== undefined;
  if (!fromService && reply.status !== 400) return 'no X-Request-Id';
  if (fromService && !String(reply.headers.vary).includes('Origin')) return 'no Vary: Origin';
  const allowed = reply.headers['access-control-allow-origin'];
  if (allowed !== undefined && allowed !== fuzzed.headers.origin) return `allows ${allowed}`;
  if (allowed === '*' || allowed === 'null') return `allows ${allowed}`;
  return undefined;
}
/**
 * Two documented answers: many claims may use a brand's escrow up, and on a machine that does much else a payout may
 * take longer than a caller waits. That the service still pays in time is asked at the end.
 */
const isDocumented = ({ body }: Reply) => /"(?:insufficient_brand_balance|payout_pending)"/.test(body);

const UNWANTED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/u;

/** Every text in the ledger that a request could have put there; `names` are those of JSON fields. */
function stored(): { texts: string[]; names: string[] } {
  const ledger = new SQLite(join(service.ready.dataDir, 'ledger.sqlite'), { readonly: true });
  const texts: string[] = [];
  const names: string[] = [];
  const collect = (value: unknown) => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        names.push(name);
        collect(inner);
      }
    }
  };
  for (const row of ledger.prepare('select * from rewards').iterate() as Iterable<Record<string, unknown>>) {
    collect({ ...row, metadata: JSON.parse(String(row.metadata)) });
  }
  for (const table of [
    'wallets',
    'claim_counters',
    'idempotency_keys',
    'brand_domains',
    'brands',
    'event_rules',
  ]) {
    for (const row of ledger.prepare(`select * from ${table}`).iterate()) collect(row);
  }
  ledger.close();
  return { texts, names };
}

test(`${RUNS} requests of every shape`, async () => {
  const prototype = Object.getOwnPropertyNames(Object.prototype).sort();
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const seed = Number(process.env.REWARDS_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const faults: { what: string; fuzzed: FuzzedRequest; body: string }[] = [];
  const statuses = new Map<number, number>();
  let milliseconds = 0;
  let left = RUNS;
  let round = 0;
  // In portions, so that hundreds of thousands need no memory of their own.
  while (left > 0) {
    const portion = fc.sample(fuzzedRequest, { numRuns: Math.min(left, 2_000), seed: seed + round++ });
    left -= portion.length;
    const queue = portion.values();
    const worker = async () => {
      for (const fuzzed of queue) {
        const reply = await send(fuzzed, agent).catch((error: Error) => error);
        if (reply instanceof Error) {
          faults.push({ what: reply.message, fuzzed, body: '' });
          continue;
        }
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
        const what = fault(fuzzed, reply);
        if (what) faults.push({ what, fuzzed, body: reply.body.slice(0, 500) });
      }
    };
    const started = performance.now();
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    milliseconds += performance.now() - started;
  }
  const seconds = milliseconds / 1_000;
  agent.destroy();
  console.log(
    `${RUNS} requests in ${seconds.toFixed(1)} s, ${Math.round(RUNS / seconds)}/s, seed ${seed}:`,
    Object.fromEntries([...statuses].sort()),
  );

  expect(faults.slice(0, 3), `seed ${seed}`).toEqual([]);
  expect(rejections).toEqual([]);
  const { texts, names } = stored();
  expect([...texts, ...names].filter((text) => UNWANTED.test(text))).toEqual([]);
  expect(names).not.toContain('__proto__');
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(prototype);
  // A fuzz that is only ever refused would prove little.
  expect(statuses.get(200) ?? 0).toBeGreaterThan(RUNS / 50);
  // What was promised before is paid first.
  await expect
    .poll(async () => (await service.send(shop, { userEmail: someone() })).status, { timeout: 120_000 })
    .toBe(200);
}, 1_800_000);

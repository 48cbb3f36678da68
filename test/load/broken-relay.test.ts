/** A relay that breaks its limit must not get past the load test: a real one, with a gateway that spoils its answers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openUserWallets } from '../../src/client/chain/user-wallet.ts';
import { createClient } from '../../src/client/create-client.ts';
import { settings } from '../../src/compose/config.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { loadRelay } from '../../src/load/relay-load.ts';
import type { RelayLoadOptions } from '../../src/load/relay-report.ts';
import { brokenRules } from '../../src/load/relay-report.ts';
import { startTestService, type TestService } from '../kits/service/service.ts';

/** Smaller than the contract's, so that a whole window is a few calls; those of the contract are tried with `rewards load`. */
const USER_LIMIT = 5;
const ADDRESS_LIMIT = 20;
/** Of which one request is the load test's own. */
const ADDRESS_CALLS = ADDRESS_LIMIT - 1;

interface Told {
  status: number;
  headers: Record<string, string>;
  body: string;
}

let service: TestService;
let spoil: (answer: Told, call: number) => Told = (answer) => answer;
let gateway: { url: string; close: () => void };

beforeAll(async () => {
  service = await startTestService({
    relay: {
      userLimit: { ...settings.relayHost.userLimit, limit: USER_LIMIT },
      addressLimit: { ...settings.relayHost.addressLimit, limit: ADDRESS_LIMIT },
    },
  });
  gateway = await startGateway();
});
afterAll(async () => {
  gateway.close();
  await service.stop();
});

/** Hands every request on to the relay, and its answer back as `spoil` makes it. */
async function startGateway() {
  let calls = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.fromEntries(
      ['authorization', 'content-type', 'origin', 'x-forwarded-for'].flatMap((name) => {
        const value = request.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
    const answer = await fetch(`${service.ready.urls.relay}${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      ...(request.method === 'POST' && { body: Buffer.concat(chunks) }),
    });
    const kept = ['content-type', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
    const told = spoil(
      {
        status: answer.status,
        headers: Object.fromEntries(kept.flatMap((name) => [[name, answer.headers.get(name) ?? '']])),
        body: await answer.text(),
      },
      ++calls,
    );
    response.writeHead(told.status, told.headers).end(told.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

async function load(wish: Partial<RelayLoadOptions>, spoiled: typeof spoil = (answer) => answer) {
  spoil = spoiled;
  const { urls, contracts, controlToken, brands } = service.ready;
  const random = secureRandom({ now: () => Date.now() });
  return loadRelay(
    {
      client: createClient({ urls: { ...urls, relay: gateway.url }, controlToken, timeoutMs: 30_000 }),
      wallets: openUserWallets({ contracts, rpcUrl: urls.rpc, random }),
      random,
      origin: `https://${brands[0]?.domain}`,
      signal: new AbortController().signal,
      onProgress() {},
    },
    { users: 2, perUser: USER_LIMIT + 2, oneAddress: false, checkReset: false, concurrency: 8, ...wish },
  );
}

const LIMITED = 429;
const header = (answer: Told, name: string, value: string): Told => ({
  ...answer,
  headers: { ...answer.headers, [`x-ratelimit-${name}`]: value },
});

test('an honest relay: exact, and nothing to complain of', async () => {
  const report = await load({ checkReset: true });
  expect(brokenRules(report)).toEqual([]);
  expect(report).toMatchObject({
    sent: 2 * (USER_LIMIT + 2),
    admitted: 2 * USER_LIMIT,
    expected: 2 * USER_LIMIT,
    refused: 4,
    failed: 0,
    overAdmission: 0,
    underAdmission: 0,
    limit: USER_LIMIT,
    headers: { checked: 2 * (USER_LIMIT + 2), count: 0 },
    reset: { checked: 2, refusedBefore: 2, admittedAfter: 2, count: 0 },
  });
}, 60_000);

test('one call too many is seen', async () => {
  let let36 = 0;
  const report = await load({}, (answer) => {
    if (answer.status !== LIMITED || let36++ > 0) return answer;
    return { ...answer, status: 200, body: '{"success":true}' };
  });
  expect(report).toMatchObject({
    admitted: 2 * USER_LIMIT + 1,
    expected: 2 * USER_LIMIT,
    overAdmission: 1,
    underAdmission: 0,
  });
  expect(brokenRules(report)[0]).toBe('1 calls passed beyond the limit');
}, 60_000);

test('one call too few is seen, even when another user gets one more', async () => {
  const refusal = '{"success":false,"code":"RATE_LIMIT_EXCEEDED","details":{"reason":"user"}}';
  let [less, more] = [0, 0];
  const report = await load({}, (answer) => {
    if (answer.status === 200 && less++ === 0) {
      return { ...header(answer, 'remaining', '0'), status: LIMITED, body: refusal };
    }
    if (answer.status === LIMITED && more++ === 0) return { ...answer, status: 200, body: '{}' };
    return answer;
  });
  // Whether it was the same user's makes no difference to the sum, and all to the limit.
  expect(report.admitted).toBe(2 * USER_LIMIT);
  expect(report.overAdmission).toBe(report.underAdmission);
  expect(brokenRules(report).length).toBeGreaterThan(0);
}, 60_000);

test('a call that fails is told by its code, and missing', async () => {
  let one = 0;
  const report = await load({}, (answer) =>
    answer.status === 200 && one++ === 0
      ? { ...answer, status: 503, body: '{"success":false,"code":"RELAY_UNAVAILABLE","details":{}}' }
      : answer,
  );
  expect(report).toMatchObject({
    failed: 1,
    failures: { '503 RELAY_UNAVAILABLE': 1 },
    underAdmission: 1,
    overAdmission: 0,
  });
}, 60_000);

test.each<[string, typeof spoil, RegExp]>([
  ['Remaining that does not count down', (answer) => header(answer, 'remaining', '7'), /Remaining/],
  [
    'a Reset that moves',
    (answer, call) => header(answer, 'reset', String(4e9 + (call % 2))),
    /Reset is 4000/,
  ],
  ['a Reset in the past', (answer) => header(answer, 'reset', '1000'), /not in the future/],
  ['another Limit', (answer, call) => header(answer, 'limit', String(USER_LIMIT + (call % 2))), /Limit is/],
  ['no headers', (answer) => ({ ...answer, headers: {} }), /not all there/],
])(
  '%s is seen',
  async (_, spoiled, said) => {
    const report = await load({ users: 1, perUser: 4 }, spoiled);
    expect(report.headers.count).toBeGreaterThan(0);
    expect(report.headers.problems.join('\n')).toMatch(said);
    if (!report.outlasted) expect(brokenRules(report).join('\n')).toMatch(/headers are wrong/);
  },
  60_000,
);

test('a window that does not end, or ends early, is seen', async () => {
  const refusal = '{"success":false,"code":"RATE_LIMIT_EXCEEDED","details":{"reason":"user"}}';
  let calls = 0;
  const forever = await load({ users: 1, perUser: USER_LIMIT + 1, checkReset: true }, (answer) => {
    calls += 1;
    return calls > USER_LIMIT + 1
      ? { ...header(answer, 'remaining', '0'), status: LIMITED, body: refusal }
      : answer;
  });
  expect(forever.reset).toMatchObject({ checked: 1, refusedBefore: 1, admittedAfter: 0, count: 1 });
  expect(brokenRules(forever).join()).toContain('after its window was over');

  calls = 0;
  const early = await load({ users: 1, perUser: USER_LIMIT + 1, checkReset: true }, (answer) => {
    calls += 1;
    return calls === USER_LIMIT + 2 ? { ...answer, status: 200, body: '{}' } : answer;
  });
  expect(early.reset).toMatchObject({ refusedBefore: 0, count: 1 });
  expect(brokenRules(early).join()).toContain('before its window was over');
}, 60_000);

test('a run that outlasts its window tells nothing of the limit, and says so', async () => {
  const report = await load({ users: 1, perUser: 3 }, (answer) => header(answer, 'reset', '1000'));
  expect(report.outlasted).toBe(true);
  expect(brokenRules(report)).toEqual(['a window ended during the run: send fewer calls, or more at once']);
}, 60_000);

test('from one address: what the address may, and no more', async () => {
  const calls = { users: 6, perUser: USER_LIMIT - 1, oneAddress: true, checkReset: true };
  const refused = 6 * (USER_LIMIT - 1) - ADDRESS_CALLS;
  const report = await load(calls);
  expect(report).toMatchObject({
    sent: ADDRESS_CALLS + refused,
    admitted: ADDRESS_CALLS,
    expected: ADDRESS_CALLS,
    refused,
    limit: ADDRESS_LIMIT,
  });
  expect(brokenRules(report)).toEqual([]);
  const broken = await load(calls, (answer) =>
    answer.status === LIMITED ? { ...answer, status: 200, body: '{}' } : answer,
  );
  expect(broken).toMatchObject({ expected: ADDRESS_CALLS, overAdmission: refused });
}, 120_000);

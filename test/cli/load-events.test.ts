/** `rewards load events` as a shell sees it, against a real stack; and that it notices what is wrong. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { createClient } from '../../src/client/create-client.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { loadEvents } from '../../src/load/events-load.ts';
import { brokenEventRules } from '../../src/load/events-report.ts';
import { rewards, rewardsJson, rewardsProcess, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--port', '0', '--ephemeral'], { cwd: project.path });
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
});
const json = (...args: string[]) => rewardsJson(['load', 'events', ...args], { cwd: project.path });
const small = ['--users', '6', '--per-user', '5'];

describe('rewards load events', () => {
  test('exactly one event of each user is rewarded, and paid on chain; ledger and chain agree', async () => {
    const { code, envelope, stderr } = await json(...small);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(envelope.data).toMatchObject({
      eventType: 'account_creation',
      sent: 30,
      rewarded: 6,
      expected: 6,
      refused: 24,
      failed: 0,
      refusals: { duplicate: 24 },
      failures: {},
      overAdmission: 0,
      underAdmission: 0,
      outlasted: false,
      payment: { allowed: 600, promised: 600, paid: 600, over: 0, under: 0, settled: true },
      ledger: { ok: true, differences: 0, first: null },
      latencyMs: { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) },
      refusedLatencyMs: { p50: expect.any(Number) },
      thresholds: [],
    });
    expect(envelope.data).not.toHaveProperty('plots');
    const { body } = (await rewardsJson(['brand', 'show'], { cwd: project.path })).envelope.data;
    expect(body.funds.available).toBe(1_000_000 - 600);
  });

  test('text for people, at a rate, with thresholds that hold; a report with plots', async () => {
    const path = join(project.path, 'events.html');
    const { code, stdout } = await rewardsProcess(
      [
        ...[
          'load',
          'events',
          '--event',
          'rate_experience',
          '--users',
          '4',
          '--per-user',
          '3',
          '--rate',
          '40/s',
        ],
        ...['--threshold', 'over_payment==0', '--threshold', 'p99<60s', '--report-html', path],
      ],
      { cwd: project.path },
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^load events {2}4 users x 3 rate_experience$/m);
    expect(stdout).toMatch(/^ {2}rewarded +4 of 4 {2}exact$/m);
    expect(stdout).toMatch(/^ {2}paid on chain +200 of 200 RWT, 0 over, 0 under$/m);
    expect(stdout).toMatch(/^ {2}threshold +ok {3}over_payment==0 {2}0$/m);
    const page = await readFile(path, 'utf8');
    expect(page.match(/<svg/g)).toHaveLength(4);
    expect(page).toContain('exactly what the rules allow was rewarded and paid');
  });

  test('a threshold that is crossed: exit 99, and what was measured', async () => {
    const { code, envelope } = await json('--users', '2', '--per-user', '1', '--threshold', 'admitted>=3');
    expect(code).toBe(exitCodes.threshold);
    expect(envelope.error).toMatchObject({ code: 'E_THRESHOLD', details: { crossed: [{ value: 2 }] } });
  });

  test('what it could not judge is refused before anything is sent', async () => {
    for (const [args, why] of [
      [['--event', 'moon_landing'], 'no event moon_landing'],
      [['--event', 'custom_limited'], 'limited for all users together'],
      [['--event', 'custom_support_answer'], 'channels'],
    ] as const) {
      const refused = await json(...small, ...args);
      expect(refused.code).toBe(exitCodes.refused);
      expect(refused.envelope.error.message).toContain(why);
    }
    const usage = async (...args: string[]) => (await json(...args)).code;
    expect(await usage('--rate', '5/s', '--concurrency', '5')).toBe(exitCodes.usage);
    expect(await usage('--threshold', 'header_problems==0')).toBe(exitCodes.usage);
    expect((await rewards(['load', 'events'])).code).toBe(exitCodes.unreachable);
  });

  test('a service that rewards twice, pays too much or too little, or loses answers is noticed', async () => {
    const run = (
      change: (path: string, body: Record<string, unknown>, status: number) => Response | undefined,
    ) => {
      const client = createClient({
        urls: stack.ready.urls,
        controlToken: stack.ready.controlToken,
        timeoutMs: 30_000,
        async fetch(request) {
          const answer = await fetch(request);
          const text = await answer.clone().text();
          return (
            change(
              new URL(request.url).pathname,
              text.startsWith('{') ? JSON.parse(text) : {},
              answer.status,
            ) ?? answer
          );
        },
      });
      const deps = {
        client,
        random: secureRandom({ now: () => 0 }),
        signal: new AbortController().signal,
        onProgress: () => {},
      };
      const [{ brandId }] = stack.ready.brands;
      return loadEvents(deps, {
        brandId,
        eventType: 'account_creation',
        users: 2,
        perUser: 2,
        concurrency: 1,
      });
    };
    const twice = await run((path, body, status) =>
      path.endsWith('manual-event') && status === 409
        ? Response.json({ ...body, success: true, rewardAmount: 0 })
        : undefined,
    );
    expect(twice).toMatchObject({ overAdmission: 2, rewarded: 4, expected: 2 });
    expect(brokenEventRules(twice)).toContain('2 events were rewarded beyond the rules');

    let looks = 0;
    const tooMuch = await run((path, body) => {
      if (path.endsWith('user-balance'))
        return Response.json({ ...body, balance: Number(body.balance) + 50 });
      // What is answered is changed alike, so that nobody waits for the chain.
      if (path.endsWith('manual-event') && body.success) {
        looks++;
        return Response.json({ ...body, rewardAmount: Number(body.rewardAmount) + 50 });
      }
      return undefined;
    });
    expect(looks).toBe(2);
    expect(tooMuch.payment).toEqual({
      allowed: 200,
      promised: 300,
      paid: 300,
      over: 100,
      under: 0,
      settled: true,
    });
    expect(brokenEventRules(tooMuch)).toEqual(['100 RWT were paid beyond the rules']);

    const failing = await run((path, _, status) =>
      path.endsWith('manual-event') && status === 409
        ? Response.json({ error: 'Oops' }, { status: 500 })
        : undefined,
    );
    expect(brokenEventRules(failing)).toEqual(['2 events failed: 2 × 500 Oops']);
  });
});

/** `rewards load relay` as a shell sees it, against a real stack. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { programMissing } from '../kits/run/programs.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { browserMissing, startBrowser } from '../kits/site/browser.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const json = (...args: string[]) => rewardsJson(['load', 'relay', ...args], { cwd: project.path });
const plain = (...args: string[]) => rewards(['load', 'relay', ...args], { cwd: project.path });

beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--port', '0', '--ephemeral'], { cwd: project.path });
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

test('exactly 35 of each user pass, and again after the reset; the numbers are the documented ones', async () => {
  const before = (await rewardsJson(['clock', 'show'], { cwd: project.path })).envelope.data.body.offsetMs;
  const { code, envelope, stderr } = await json('--users', '2', '--per-user', '37');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(envelope.data).toMatchObject({
    sent: 74,
    admitted: 70,
    expected: 70,
    refused: 4,
    overAdmission: 0,
    underAdmission: 0,
    latencyMs: { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) },
    thresholds: [],
    headers: { checked: 74, count: 0, problems: [] },
    reset: { checked: 2, refusedBefore: 2, admittedAfter: 2, count: 0 },
  });
  expect(envelope.data).not.toHaveProperty('plots');
  const after = (await rewardsJson(['clock', 'show'], { cwd: project.path })).envelope.data.body.offsetMs;
  expect(after - before).toBeGreaterThan(3_500_000);
}, 120_000);

test('text says the same for people, without colours or a bar where there is no terminal', async () => {
  const { code, stdout, stderr } = await plain(
    '--users',
    '2',
    '--per-user',
    '3',
    '--threshold',
    'over_admission==0',
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const line of [
    /^load relay {2}2 users x 3 calls {2}limit 35 an hour per user$/m,
    /^ {2}admitted +6 of 6 {2}exact$/m,
    /^ {2}over-admission +0$/m,
    /^ {2}under-admission +0$/m,
    /^ {2}headers +6 checked, 0 wrong$/m,
    /^ {2}reset +not checked$/m,
    /^ {2}latency ms +p50 [\d.]+ {2}p90 [\d.]+ {2}p95 [\d.]+ {2}p99 [\d.]+ {2}max [\d.]+$/m,
    /^ {2}threshold +ok {3}over_admission==0 {2}0$/m,
  ]) {
    expect(stdout).toMatch(line);
  }
  expect(stdout).not.toContain('\u001b');
}, 60_000);

test('a threshold that is crossed is exit 99, with its value beside it', async () => {
  const args = ['--users', '1', '--per-user', '2', '--threshold', 'p95<0.1ms', '--threshold', 'failed==0'];
  const { code, envelope } = await json(...args);
  expect([code, envelope.ok, envelope.error.code]).toEqual([exitCodes.threshold, false, 'E_THRESHOLD']);
  expect(envelope.data.thresholds).toEqual([
    { threshold: 'p95<0.1ms', metric: 'p95', value: envelope.data.latencyMs.p95, ok: false },
    { threshold: 'failed==0', metric: 'failed', value: 0, ok: true },
  ]);
  const text = await plain(...args);
  expect(text.code).toBe(exitCodes.threshold);
  expect(text.stderr).toMatch(/FAIL p95<0\.1ms {2}[\d.]+/);
}, 60_000);

test('--rate begins so many a second; --duration ends it', async () => {
  const { code, envelope } = await json(
    '--users',
    '3',
    '--per-user',
    '30',
    '--rate',
    '20/s',
    '--duration',
    '2s',
  );
  expect(code).toBe(0);
  expect(envelope.data.sent).toBeGreaterThan(0);
  expect(envelope.data.sent).toBeLessThanOrEqual(41);
  expect(envelope.data.admitted).toBe(envelope.data.sent);
}, 60_000);

test('--one-address tests the limit of addresses', async () => {
  const { code, envelope } = await json('--users', '4', '--per-user', '30', '--one-address');
  expect([code, envelope.data]).toMatchObject([
    0,
    { sent: 120, admitted: 99, expected: 99, refused: 21, limit: 100, reset: null },
  ]);
}, 60_000);

test('--report-html writes one file that needs nothing from elsewhere', async () => {
  const path = join(project.path, 'load.html');
  await json('--users', '2', '--per-user', '36', '--no-reset', '--report-html', 'load.html');
  const page = await readFile(path, 'utf8');
  expect(page).not.toMatch(/<script|<link|(?:src|href)=|url\(/);
  expect(page.match(/<svg/g)).toHaveLength(4);
  expect(page).toContain('70 of 70 expected');
  expect(page.match(/<rect class="refused"/g)?.length).toBeGreaterThan(0);
  const unwritable = await json('--users', '1', '--per-user', '1', '--report-html', 'none/load.html');
  expect([unwritable.code, unwritable.envelope.error.code]).toEqual([exitCodes.usage, 'E_FILE']);
}, 60_000);

test.skipIf(browserMissing())('the report is drawn by a browser, offline and without complaint', async () => {
  const browser = await startBrowser({ hosts: [] });
  try {
    const { context, errors } = await browser.visitor();
    const page = await context.newPage();
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    await page.goto(`file://${join(project.path, 'load.html')}`);
    expect(await page.title()).toBe('rewards load relay: 2 users × 36');
    const bars = await page.locator('svg').last().boundingBox();
    expect(bars?.height).toBeGreaterThan(100);
    expect([said, errors]).toEqual([[], []]);
  } finally {
    await browser.stop();
  }
});

test.skipIf(programMissing('script'))(
  'on a terminal a bar tells how far it is, fits into a narrow one, and is gone in the end',
  async () => {
    const program = new URL('../../bin/rewards.js', import.meta.url).pathname;
    const command = `stty cols 36; exec ${process.execPath} ${program} load relay --users 2 --per-user 4`;
    // In CI lines are told, also on a terminal.
    const env = { ...process.env, CI: '', TERM: 'xterm-256color' };
    const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: project.path, stdio: 'pipe', env });
    let shown = '';
    child.stdout.on('data', (chunk) => {
      shown += chunk;
    });
    await once(child, 'close');
    expect(shown).toMatch(/preparing +\S*█+\S* 2\/2/);
    expect(shown).toMatch(/relaying +\S*█+\S* 8\/8/);
    const drawn = shown.match(/[^\r\n]*█[^\r\n]*/g) ?? [];
    const widths = drawn.map((line) => line.replace(/\u001b\[[0-9;]*[mK]/g, '').length);
    expect(Math.max(...widths)).toBe(35);
    expect(shown.lastIndexOf('\u001b[2K')).toBeGreaterThan(shown.lastIndexOf('█'));
  },
  60_000,
);

test('interrupted: 130, and no verdict', async () => {
  const program = new URL('../../bin/rewards.js', import.meta.url).pathname;
  const args = ['load', 'relay', '--users', '2', '--per-user', '30', '--rate', '5/s'];
  const child = spawn(process.execPath, [program, ...args], { cwd: project.path, stdio: 'pipe' });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const calls = () => stack.lines().filter((line) => JSON.parse(line).path === '/relay').length;
  const before = calls();
  await until('some calls', () => calls() > before + 2);
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  expect([code, stdout]).toEqual([exitCodes.interrupted, '']);
  expect(stderr).toMatch(/stopped after \d+ calls/);
}, 60_000);

describe('usage', () => {
  test.each([
    [['--users', '0'], 'from 1 to 2000'],
    [['--per-user', 'many'], 'from 1 to 500'],
    [['--rate', 'fast'], 'a number per second'],
    [['--rate', '0'], 'a number per second'],
    [['--rate', '5/s', '--concurrency', '2'], 'exclude each other'],
    [['--threshold', 'p95'], 'must be a metric'],
    [['--threshold', 'speed>1'], 'names an unknown metric, speed'],
    [['--duration', 'long'], 'It must be a duration'],
  ])('%j', async (args, said) => {
    const finished = await plain(...args);
    expect(finished).toMatchObject({ code: exitCodes.usage, stdout: '' });
    expect(finished.stderr).toContain(said);
  });

  test('where nothing runs it says so', async () => {
    const elsewhere = await rewardsJson(['load', 'relay']);
    expect([elsewhere.code, elsewhere.envelope.error.code]).toEqual([exitCodes.unreachable, 'E_NOT_RUNNING']);
  });
});

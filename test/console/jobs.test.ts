/** Load tests and scenarios in the console: started, watched while they run, stopped, and their reports. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import {
  listJobs,
  listScenarios,
  recordScenario,
  showJob,
  startLoad,
} from '../../src/contract/control/jobs.ts';
import type { Ready } from '../../src/stack/ready.ts';
import { rewards, serve, temporaryDirectory } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { startTestService } from '../kits/service/service.ts';
import { browserMissing, startBrowser } from '../kits/site/browser.ts';
import { looks, openConsole, overflowOf } from '../kits/site/console.ts';
import { violationsOn } from '../kits/site/readable.ts';

const PASSES = `version: 1
name: a first visit <b>is paid</b>
tags: [quick]
steps:
  - event: { type: account_creation, user: new@demo.example }
    expect: { status: 200 }
`;
const FAILS = `version: 1
name: a second one is paid as well
steps:
  - repeat: 2
    steps:
      - event: { type: account_creation, user: new@demo.example }
        expect: { status: 200 }
`;
const WAITS = `version: 1
name: long
steps:
  - repeat: 1000
    steps:
      - clock: { advance: 1s }
`;

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let stack: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  folder = await temporaryDirectory();
  const files = { 'passes.yaml': PASSES, 'fails.yaml': FAILS, 'long.yaml': WAITS, 'bad.yaml': 'steps: 7\n' };
  await mkdir(join(folder.path, 'scenarios'));
  for (const [name, text] of Object.entries(files))
    await writeFile(join(folder.path, 'scenarios', name), text);
  stack = await serve(['--port', '0', '--ephemeral'], {
    cwd: folder.path,
    // Of the shell; scenarios have stacks of their own.
    env: { REWARDS_TARGET: 'http://127.0.0.1:1' },
  });
});
afterAll(async () => {
  await stack?.stop();
  await folder?.remove();
});

const controlOf =
  (ready: () => Pick<Ready, 'urls' | 'controlToken'>) => async (path: string, body?: object) => {
    const answer = await fetch(`${ready().urls.control}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${ready().controlToken}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
const control = controlOf(() => stack.ready);

/** An answer as it is described; what is in none of its fields is not in it. */
const fits = ({ parts }: { parts: { answer: { body: { schema: z.ZodType } } } }, body: unknown): unknown =>
  parts.answer.body.schema.parse(body);

/** The job, once it has ended. */
async function ended(id: string) {
  await until(`${id} to end`, async () => (await control(`/jobs/${id}`)).body.state !== 'running', 60_000);
  return (await control(`/jobs/${id}`)).body;
}

describe('over the control API', () => {
  test('a load test of events: seconds as they come, and the report of the command', async () => {
    const { status, body } = await control('/jobs/load', {
      test: 'events',
      users: 20,
      perUser: 5,
      rate: 50,
      thresholds: ['over_payment==0'],
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: 'load', state: 'running', endedAt: null, problem: null });
    expect(body.command).toBe(
      'rewards load events --users=20 --per-user=5 --rate=50 --threshold=over_payment==0',
    );
    await until('a second', async () => (await control(`/jobs/${body.id}`)).body.seconds.length > 0);
    const busy = await control('/jobs/load', { test: 'events' });
    expect([busy.status, busy.body.details]).toEqual([409, { reason: 'job_running', id: body.id }]);
    const job = await ended(body.id);
    expect(job).toMatchObject({ state: 'passed', problem: null });
    expect(job.report).toMatchObject({ sent: 100, rewarded: 20, overAdmission: 0, ledger: { ok: true } });
    const sum = (name: string) =>
      job.seconds.reduce((all: number, second: Record<string, number>) => all + (second[name] ?? 0), 0);
    expect([sum('admitted'), sum('refused'), sum('failed')]).toEqual([20, 80, 0]);
    expect(fits(startLoad, body)).toEqual(body);
    expect(fits(showJob, job)).toEqual(job);
    const list = (await control('/jobs')).body;
    expect(fits(listJobs, list)).toEqual(list);
  });

  test('a threshold that is crossed fails it, in the words of the command', async () => {
    const { body } = await control('/jobs/load', {
      test: 'events',
      users: 1,
      perUser: 1,
      thresholds: ['sent==2'],
    });
    const job = await ended(body.id);
    expect(job).toMatchObject({ state: 'failed', problem: { code: 'E_THRESHOLD' } });
    expect(job.report.thresholds).toEqual([expect.objectContaining({ ok: false, value: 1 })]);
  });

  test('a load test that cannot begin says why', async () => {
    const { body } = await control('/jobs/load', { test: 'events', event: '--users=1' });
    const job = await ended(body.id);
    expect(job).toMatchObject({
      state: 'failed',
      report: null,
      problem: { code: 'E_REFUSED', message: 'The brand has no event --users=1.' },
    });
  });

  test('the relay: its clock is left alone where that is wished', async () => {
    const before = (await control('/clock')).body;
    const { body } = await control('/jobs/load', { test: 'relay', users: 2, perUser: 40, reset: false });
    const job = await ended(body.id);
    expect(job).toMatchObject({ state: 'passed', report: { admitted: 70, refused: 10, reset: null } });
    expect((await control('/clock')).body.nowMs - before.nowMs).toBeLessThan(60_000);
  });

  test.each([
    [{ test: 'events', users: 2_001 }, 'users'],
    [{ test: 'events', perUser: 0 }, 'perUser'],
    [{ test: 'nothing' }, 'test'],
    [{ test: 'events', rate: 5, concurrency: 5 }, 'rate'],
    [{ test: 'events', duration: 'soon' }, 'duration'],
    [{ test: 'events', output: '/etc/passwd' }, 'output'],
  ])('%j starts nothing', async (wish, setting) => {
    const { status, body } = await control('/jobs/load', wish);
    expect([status, body.details.problems[0].setting]).toEqual([400, setting]);
  });

  test('scenarios run on stacks of their own, step by step', async () => {
    const money = (await control('/totals')).body;
    const { body } = await control('/jobs/scenarios', {
      files: ['scenarios/fails.yaml', 'scenarios/passes.yaml'],
    });
    const job = await ended(body.id);
    expect(job).toMatchObject({ state: 'failed', problem: { code: 'E_SCENARIO_FAILED' } });
    expect(job.steps.map(({ status }: { status: string }) => status)).toEqual([
      'passed',
      'failed',
      'failed',
      'passed',
    ]);
    expect(job.steps[1]).toMatchObject({ file: 'scenarios/fails.yaml', kind: 'event', line: 6 });
    expect(job.steps[1].message).toContain('already being processed');
    expect(job.report.totals).toEqual({ passed: 1, failed: 1, skipped: 0 });
    expect((await control('/totals')).body).toEqual(money);
    expect(fits(showJob, job)).toEqual(job);
  });

  test('only files of the project are run', async () => {
    for (const file of ['/etc/passwd', '../secret.yaml', '--help', 'scenarios/bad.yaml']) {
      const { status, body } = await control('/jobs/scenarios', { files: [file] });
      expect([file, status, body.details.reason]).toEqual([file, 404, 'scenario_not_found']);
    }
    const { body } = await control('/scenarios');
    expect(body.scenarios.map(({ file }: { file: string }) => file)).toEqual([
      'scenarios/fails.yaml',
      'scenarios/long.yaml',
      'scenarios/passes.yaml',
    ]);
    expect(body.problems[0].file).toBe('scenarios/bad.yaml');
    expect(fits(listScenarios, body)).toEqual(body);
  });

  test('a stopped job ends its process, and the next can begin; once more changes nothing', async () => {
    const { body } = await control('/jobs/scenarios', { files: ['scenarios/long.yaml'] });
    await until('a step', async () => (await control(`/jobs/${body.id}`)).body.steps.length > 0);
    expect((await control(`/jobs/${body.id}/stop`, {})).body).toMatchObject({
      state: 'stopped',
      problem: null,
    });
    expect((await control(`/jobs/${body.id}/stop`, {})).body.state).toBe('stopped');
    expect((await control('/jobs/job-99/stop', {})).status).toBe(404);
    const next = await control('/jobs/load', { test: 'events', users: 1, perUser: 1 });
    expect((await ended(next.body.id)).state).toBe('passed');
  });

  test('they outlive a reset, and end with the stack', async () => {
    const own = await temporaryDirectory();
    await mkdir(join(own.path, 'scenarios'));
    await writeFile(join(own.path, 'scenarios/long.yaml'), WAITS);
    const other = await serve(['--port', '0', '--ephemeral'], { cwd: own.path });
    const ask = controlOf(() => other.ready);
    await ask('/jobs/scenarios', { files: ['scenarios/long.yaml'] });
    await until('a step', async () => (await ask('/jobs/job-1')).body.steps.length > 0);
    await ask('/reset', {});
    expect((await ask('/jobs')).body.jobs).toEqual([
      expect.objectContaining({ id: 'job-1', state: 'running' }),
    ]);
    const children = await childrenOf(other.ready.pid);
    expect(children.length).toBeGreaterThan(1);
    expect(await other.stop()).toEqual({ code: 0, signal: null });
    await until('all to be gone', async () => (await Promise.all(children.map(isThere))).every((is) => !is));
    await own.remove();
  });

  test('a recording is a scenario that passes', async () => {
    const [newest] = (await control('/requests?limit=1')).body.requests;
    await rewards(['send-event', 'form_submit', '--user', 'recorded@demo.example'], { cwd: folder.path });
    const { body } = await control(`/scenarios/recording?after=${newest.id}&title=one`);
    expect(body.steps).toBe(1);
    expect(fits(recordScenario, body)).toEqual(body);
    const file = join(folder.path, 'one.yaml');
    await writeFile(file, body.yaml);
    const run = await rewards(['scenario', 'run', file], { cwd: folder.path });
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('one')]);
  });

  test('a stack inside of another program starts none, and says so', async () => {
    const inside = await startTestService();
    const asked = await inside.control('/jobs/load', { test: 'events' });
    expect([asked.status, asked.body.details.reason]).toEqual([409, 'jobs_unsupported']);
    await inside.stop();
  });
});

/** The processes that a process has started. */
const childrenOf = async (pid: number) =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
const isThere = (pid: number) =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (text) => !/\) Z /.test(text),
    () => false,
  );

describe.skipIf(browserMissing() !== undefined)('in a browser', () => {
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  beforeAll(async () => {
    browser = await startBrowser({ hosts: [] });
  });
  afterAll(() => browser?.stop());

  test('a load test is started, watched and read; each step has its command', async () => {
    const { page, errors, close } = await openConsole(browser, stack.ready, '/console/load');
    const form = page.locator('section', { has: page.getByRole('heading', { name: 'Send events' }) });
    await form.getByRole('textbox', { name: /^users/ }).fill('10');
    await form.getByRole('textbox', { name: /^of each/ }).fill('3');
    await form.getByRole('textbox', { name: /^at once/ }).fill('7');
    await form.getByRole('textbox', { name: /^thresholds/ }).fill('over_payment==0, p50<60s');
    await form
      .getByText(
        "rewards load events --event account_creation --users 10 --per-user 3 --concurrency 7 --threshold over_payment==0 --threshold 'p50<60s'",
        { exact: true },
      )
      .waitFor();
    await form.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL(/console\/jobs\/job-\d+$/);
    await page.locator('#progress').getByText('passed', { exact: true }).waitFor();
    await page.locator('#seconds svg').first().waitFor();
    await page.locator('#report').getByRole('cell', { name: 'p50<60s' }).waitFor();
    await page.locator('#report').getByText('over admission').waitFor();
    expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0);
    expect(errors).toEqual([]);
    await close();
  });

  test('scenarios: run, watched while they go on, stopped; texts of files are texts', async () => {
    const { page, errors, close } = await openConsole(browser, stack.ready, '/console/scenarios');
    await page.getByText('a first visit <b>is paid</b>').waitFor();
    await page.getByRole('cell', { name: 'scenarios/bad.yaml' }).first().waitFor();
    const row = page.getByRole('row', { name: /^long/ });
    await row.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/console\/jobs\/job-\d+$/);
    await page.locator('#steps').getByText('clock 1s').first().waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('#progress').getByText('stopped', { exact: true }).waitFor();
    await page.goto(`${stack.ready.urls.control}/console/scenarios`);
    await page
      .getByRole('row', { name: /^a second one/ })
      .getByRole('button', { name: 'Run', exact: true })
      .click();
    await page.locator('#progress').getByText('1 of 1 scenarios failed.').waitFor();
    await page.locator('#steps').getByText('scenarios/fails.yaml:6').first().waitFor();
    expect(errors).toEqual([]);
    await close();
  });

  test('from here on: requests are on the page as they come', async () => {
    const { page, close } = await openConsole(browser, stack.ready, '/console/scenarios');
    await page.getByRole('link', { name: 'from here on' }).click();
    await page.getByText('No request yet that a scenario could have.').waitFor();
    await rewards(['send-event', 'form_submit', '--user', 'live@demo.example'], { cwd: folder.path });
    await page.getByRole('heading', { name: '1 step' }).waitFor();
    await page.locator('#recording').getByText('live@demo.example').waitFor();
    await close();
  });

  test.each(looks)('$name: nothing is cut off, and axe finds nothing', async ({ name: _, ...look }) => {
    const { body } = await control('/jobs');
    const jobs = ['load', 'scenarios'].map(
      (kind) => body.jobs.find((job: { kind: string }) => job.kind === kind).id,
    );
    for (const path of ['/load', '/scenarios', '/scenarios/recording', ...jobs.map((id) => `/jobs/${id}`)]) {
      const { page, errors, close } = await openConsole(browser, stack.ready, `/console${path}`, look);
      expect([path, await overflowOf(page)]).toEqual([path, 0]);
      expect([path, await violationsOn(page)]).toEqual([path, []]);
      expect(errors).toEqual([]);
      await close();
    }
  });
});

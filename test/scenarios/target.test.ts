/** `rewards scenario run --target`: against a production service, whose API is all there is, and against a stack that runs here. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ScenarioReport } from '../../src/scenario/run/report.ts';
import { stubService } from '../cli/stub-service.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';
import {
  brandId,
  type ProductionKit,
  type Started,
  sqliteLedger,
  startProduction,
  startProductionKit,
} from '../kits/service/production.ts';

const week = new URL('../../scenarios/week.yaml', import.meta.url).pathname;

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(() => folder.remove());

test('what needs a control is refused before anything is sent, with its line and its reason', async () => {
  const service = await stubService(() => ({ body: {} }));
  const { code, stderr, stdout } = await rewards(['scenario', 'run', week, '--target', service.url], {
    cwd: folder.path,
  });
  await service.close();
  expect([code, stdout, service.asked.length]).toEqual([1, '', 0]);
  expect(stderr).toContain(
    `${week}:12:9  clock cannot be done: this target does not have clock (a clock that can be moved: a stack of the emulator)\n    12 |       - clock: { advance: 24h }\n       |         ^`,
  );
  for (const step of ['chain', 'pay', 'refund', 'relay', 'verify'])
    expect(stderr).toContain(`${step} cannot be done: this target does not have`);
  expect(stderr).toContain('E_SCENARIO_UNSUPPORTED');
});

test('no account of a service that is not ours is given code', async () => {
  const file = join(folder.path, 'code.yaml');
  await writeFile(file, 'version: 1\nname: code\nsteps:\n  - code: { of: alice, kind: reverts }\n');
  const service = await stubService(() => ({ body: {} }));
  const { code, stderr } = await rewards(['scenario', 'run', file, '--target', service.url], {
    cwd: folder.path,
  });
  await service.close();
  expect([code, service.asked.length]).toEqual([1, 0]);
  expect(stderr).toContain(
    `${file}:4:5  code cannot be done: this target does not have code (accounts that can be given code: a stack of the emulator)`,
  );
});

describe('a production service', () => {
  let kit: ProductionKit;
  let service: Started;
  beforeAll(async () => {
    kit = await startProductionKit();
    const ledger = await sqliteLedger(kit.folder, 'scenarios');
    service = await startProduction(kit.environment(ledger, { REWARDS_ALLOW_SQLITE: 'true' }));
    await writeFile(
      join(folder.path, 'public.yaml'),
      `version: 1
name: what any service can be asked
vars: { user: nobody@example.com }
steps:
  - event: { type: form_submit, user: "\${vars.user}", headers: { x-forwarded-proto: https } }
    expect: { status: 200, body: { rewardAmount: 5, transactionHash: { $match: hash } } }
  - clock: { advance: 61s }
    if-supported: true
  - http: { path: /rewards-api/health, headers: { x-forwarded-proto: https } }
    expect: { status: 200, body: { status: healthy } }
  - http: { path: /rewards-api/health }
    expect: { status: 403 }
`,
    );
  });
  afterAll(async () => {
    if (service?.child.exitCode === null) await service.stop('SIGKILL');
    await kit?.stop();
  });
  const run = (...args: string[]) =>
    rewardsJson(
      [
        'scenario',
        'run',
        ...args,
        '--target',
        service.ready.urls.events ?? '',
        '--brand',
        brandId,
        '--domain',
        'shop.example',
      ],
      { cwd: folder.path },
    );

  test('answers the steps that are its API; a step that says so is left out alone', async () => {
    const { code, envelope } = await run('public.yaml', '--var', `user=scenario-${process.pid}@example.com`);
    const [file] = (envelope.data as ScenarioReport).files;
    expect(
      file?.cases[0]?.steps.map(({ kind, status, failure, reason }) => [kind, status, failure, reason]),
    ).toEqual([
      ['event', 'passed', null, null],
      ['clock', 'skipped', null, 'needs a clock that can be moved: a stack of the emulator'],
      ['http', 'passed', null, null],
      ['http', 'passed', null, null],
    ]);
    expect(code).toBe(0);
  });

  test('the week is refused, and skipped with --skip-unsupported while the others run', async () => {
    const refused = await run(week);
    expect([refused.code, refused.envelope.error.code]).toEqual([1, 'E_SCENARIO_UNSUPPORTED']);
    const { code, envelope } = await run(
      week,
      'public.yaml',
      '--skip-unsupported',
      '--var',
      `user=again-${process.pid}@example.com`,
    );
    const { files, totals } = envelope.data as ScenarioReport;
    expect([code, totals]).toEqual([0, { passed: 1, failed: 0, skipped: 1 }]);
    expect(files[0]?.cases[0]?.reason).toMatch(/^clock cannot be done/);
  });
});

describe('a stack that runs here', () => {
  let stack: Awaited<ReturnType<typeof serveHere>>;
  beforeAll(async () => {
    stack = await serveHere(['--ephemeral', '--port', '0', '--rpc-port', '0'], { cwd: folder.path });
  });
  afterAll(() => stack?.stop());

  test('runs the week: it has a clock, a processor and a chain', async () => {
    const { envelope } = await rewardsJson(['scenario', 'run', week, '--target', stack.ready.urls.events], {
      cwd: folder.path,
    });
    expect([envelope.error, envelope.data.totals]).toEqual([undefined, { passed: 1, failed: 0, skipped: 0 }]);
    expect(envelope.data.target).toBe(stack.ready.urls.events);
  });

  test('a file that describes a stack of its own is refused', async () => {
    await writeFile(
      join(folder.path, 'own.yaml'),
      'version: 1\nname: own\nclock: { frozen: true }\nsteps: [{ note: x }]\n',
    );
    const { code, stderr } = await rewards(
      ['scenario', 'run', 'own.yaml', '--target', stack.ready.urls.events],
      {
        cwd: folder.path,
      },
    );
    expect(code).toBe(1);
    expect(stderr).toContain('own.yaml:3:1  clock is of a stack of its own, and this target runs already');
  });
});

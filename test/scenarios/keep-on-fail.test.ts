/** `scenario run --keep-on-fail`: the moment of a failure can be opened again from its file, on another machine too. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Finished, rewards, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

const fails = (user: string) => `version: 1
name: a reward that is not as large as hoped
matrix: { user: [${user}, carol] }
clock: { start: 2031-05-01T00:00:00Z, frozen: true }
steps:
  - event: { type: account_creation, user: "\${matrix.user}" }
    expect: { body: { rewardAmount: { $in: [100, 101] } } }
  - event: { type: form_submit, user: "\${matrix.user}" }
    expect: { body: { rewardAmount: ${user === 'alice' ? 11 : 10} } }
`;

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let finished: Finished;
const at = (...path: string[]) => join(folder.path, ...path);
const run = (...args: string[]) => rewards(['scenario', 'run', ...args], { cwd: folder.path });

beforeAll(async () => {
  folder = await temporaryDirectory();
  await writeFile(at('fails.yaml'), fails('alice'));
  await writeFile(at('passes.yaml'), fails('bob'));
  finished = await run('fails.yaml', 'passes.yaml', '--keep-on-fail', 'kept', '--report-json', 'report.json');
});
afterAll(() => folder.remove());

test('each case that fails leaves its stack and its requests, for its owner alone; one that passes leaves nothing', async () => {
  expect(finished.code).toBe(1);
  expect((await readdir(at('kept'))).sort()).toEqual([
    ...['fails-alice.requests.json', 'fails-alice.rewards'],
    ...['fails-carol.requests.json', 'fails-carol.rewards'],
  ]);
  for (const name of ['', 'fails-alice.rewards', 'fails-alice.requests.json'])
    expect((await stat(at('kept', name))).mode & 0o077).toBe(0);
  expect(finished.stdout).toContain(
    `rewards serve --ephemeral --import ${at('kept', 'fails-alice.rewards')}`,
  );
  const report = JSON.parse(await readFile(at('report.json'), 'utf8'));
  expect(report.files[0].cases.map(({ kept }: { kept: unknown }) => kept)).toEqual(
    ['alice', 'carol'].map((user) => ({
      snapshot: at('kept', `fails-${user}.rewards`),
      requests: at('kept', `fails-${user}.requests.json`),
      problem: null,
    })),
  );
  expect(report.files[1].cases.map(({ kept }: { kept: unknown }) => kept)).toEqual([null, null]);
  const requests = JSON.parse(await readFile(at('kept', 'fails-alice.requests.json'), 'utf8'));
  expect(requests.map(({ path, status }: { path: string; status: number }) => [path, status])).toEqual(
    Array(2).fill(['/rewards-api/manual-event', 200]),
  );
  expect(requests[0]).toMatchObject({ decision: 'rewarded' });
  expect(JSON.parse(requests[0].requestBody)).toMatchObject({ eventType: 'form_submit' });
});

test('the file opens at the moment of the failure', async () => {
  const stack = await serveHere(
    ['--port', '0', '--rpc-port', '0', '--ephemeral', '--import', 'kept/fails-alice.rewards'],
    { cwd: folder.path },
  );
  try {
    const here = (...args: string[]) => rewards(args, { cwd: folder.path });
    expect((await here('clock', 'show')).stdout).toMatch(/^2031-05-01T00:00:0\d/);
    expect((await here('wallet', 'balance', 'alice@demo.example')).stdout).toContain('110');
    expect((await here('send-event', 'form_submit', '--user', 'alice@demo.example')).stderr).toMatch(
      /duplicate/,
    );
    expect((await here('verify')).code).toBe(0);
  } finally {
    await stack.stop();
  }
});

test('without the option nothing is kept', async () => {
  const { code, stdout } = await run('fails.yaml');
  expect([code, stdout.includes('--import')]).toEqual([1, false]);
  expect((await readdir(folder.path)).sort()).not.toContain('snapshots');
});

/** `rewards exec` as processes: the command's exit code, its signals, and that nothing is left however it ends. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/cli/machine/exit-codes.ts';
import { delay } from '../../../src/lib/timers.ts';
import { programMissing } from '../../kits/run/programs.ts';
import {
  program,
  rewards,
  rewardsProcess,
  slowStart,
  startProcess,
  temporaryDirectory,
} from '../../kits/service/cli.ts';
import { until } from '../../kits/service/clock.ts';
import { aliveOf, descendants } from '../../kits/service/processes.ts';

const client = new URL('../../../docs/examples/client', import.meta.url).pathname;
const terminalMissing = programMissing('script');
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(() => project.remove());

/** In this process, where the command prints nothing. */
const exec = (...command: string[]) => rewards(['exec', '--', ...command], { cwd: project.path });
const script = (text: string) => rewardsProcess(['exec', '--', 'sh', '-c', text], { cwd: project.path });

/** A command that has begun, and every process of the stack around it. */
async function begun(text: string) {
  const run = startProcess(['exec', '--', 'sh', '-c', text], { cwd: project.path });
  expect(await run.nextLine()).toBe('begun');
  const pid = run.child.pid ?? 0;
  let family = descendants(pid);
  // It says that it has begun before it starts what it waits for.
  await until('what the command waits for', () => {
    family = descendants(pid);
    return family.some(({ command }) => command === 'sleep 600');
  });
  expect(family.some(({ command }) => /^\S*anvil /.test(command))).toBe(true);
  return { ...run, pids: [pid, ...family.map((row) => row.pid)] };
}
const gone = (pids: number[]) => until(`the end of ${pids}`, () => aliveOf(pids).length === 0);

/** A command that reads a line and then waits, typed at a real terminal; `wrapper` is the process of `exec`. */
async function atTerminal() {
  const counts =
    'trap "echo interrupted; exit 3" INT; read line; echo got $line; while :; do sleep 0.1; done';
  await writeFile(join(project.path, 'count.sh'), counts);
  // The shell around it gets the Ctrl-C as well; without a trap some shells end of it before they can tell the code.
  const command = `trap : INT; "${process.execPath}" "${program}" exec -- sh count.sh; echo code $?`;
  const typed = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: project.path,
    env: { ...process.env, SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  typed.stdout.setEncoding('utf8').on('data', (chunk) => {
    said += chunk;
  });
  await until('the stack', () => said.includes('stack ready'));
  typed.stdin.write('hello\n');
  await until('the command', () => said.includes('got hello'));
  const family = descendants(typed.pid ?? 0).filter(({ command: row }) => row !== 'sleep 0.1');
  const wrapper = family.find(({ command: row }) =>
    row.startsWith(`${process.execPath} ${program} exec`),
  )?.pid;
  expect(wrapper).toBeDefined();
  return { typed, said: () => said, pids: family.map(({ pid }) => pid), wrapper: wrapper ?? 0 };
}

describe('rewards exec', () => {
  test('the tests of the example client, passing and failing', async () => {
    const around = { cwd: client, env: { npm_config_update_notifier: 'false' } };
    const passed = await rewardsProcess(['exec', '--', 'npm', 'test'], around);
    expect(passed).toMatchObject({ code: 0, stdout: expect.stringContaining('# pass 2') });
    const failing = { ...around, env: { ...around.env, EXPECTED_REWARD: '1' } };
    const failed = await rewardsProcess(['exec', '--', 'npm', 'test'], failing);
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('# fail 1') });
  });

  test('the output and the exit code are the command’s own', async () => {
    expect(await script('echo out; echo err >&2; exit 7')).toMatchObject({
      code: 7,
      stdout: 'out\n',
      stderr: expect.stringContaining('err\n'),
    });
  });

  test('the exit code is 128 and the number for a signal; 127 and 126 as a shell says', async () => {
    expect(await exec('sh', '-c', 'kill -KILL $$')).toMatchObject({ code: 137 });
    expect(await exec('no-such-command')).toMatchObject({
      code: 127,
      stderr: expect.stringContaining('no-such-command: command not found'),
    });
    const plain = join(project.path, 'plain');
    await writeFile(plain, 'nothing to run');
    await chmod(plain, 0o644);
    expect(await exec(plain)).toMatchObject({ code: 126, stderr: expect.stringContaining('EACCES') });
  });

  test('the command’s rewards commands find its stack, not the one of the directory; stdin is the command’s', async () => {
    const said = await rewardsProcess(
      [
        ...['exec', '--clock', '2031-01-01T00:00:00Z', '--', 'sh', '-c'],
        `cat; "${process.execPath}" "${program}" clock show; "${process.execPath}" "${program}" clock advance 1h; test -e .rewards || echo no run file; echo $REWARDS_DOMAIN`,
      ],
      { cwd: project.path, stdin: 'typed\n' },
    );
    expect(said.code).toBe(0);
    expect(said.stdout).toMatch(
      /^typed\n2031-01-01T00:00:\S+ .*\n2031-01-01T01:00:[\s\S]*\nno run file\ndemo\.example\n$/,
    );
  });

  test('what keeps the stack from starting is told, and the command is not run', async () => {
    await writeFile(join(project.path, 'bad.yaml'), 'brands:\n  - brandId: nothing\n');
    const bad = await rewards(['exec', '--seed', 'bad.yaml', '--', 'touch', 'ran'], { cwd: project.path });
    expect(bad).toMatchObject({ code: exitCodes.usage, stderr: expect.stringContaining('bad.yaml:2') });
    expect(existsSync(join(project.path, 'ran'))).toBe(false);
    expect(await rewards(['exec'], { cwd: project.path })).toMatchObject({ code: exitCodes.usage });
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s reaches the command; nothing is left', async (signal) => {
    const run = await begun('echo begun; sleep 600');
    expect(await run.stop(signal)).toEqual({ code: signal === 'SIGINT' ? 130 : 143, signal: null });
    await gone(run.pids);
  });

  test('a command that has its own answer to a signal gives the exit code', async () => {
    const run = await begun('trap "exit 9" TERM; echo begun; sleep 600 & wait');
    expect(await run.stop('SIGTERM')).toEqual({ code: 9, signal: null });
    await gone(run.pids);
  });

  test('a signal in the very moment in which the command begins reaches it', async () => {
    const said = await script(`trap "exit 9" TERM; kill -TERM $PPID; sleep 600 & wait`);
    expect(said).toMatchObject({ code: 9 });
  });

  test.skipIf(terminalMissing)(
    'Ctrl-C at a terminal: the command reads from it, gets the signal once, and nothing is left',
    async () => {
      const { typed, said, pids } = await atTerminal();
      typed.stdin.write('\u0003');
      await until('its end', () => /code \d+/.test(said()));
      expect(said().match(/interrupted/g)).toHaveLength(1);
      expect(said()).toContain('code 3');
      await gone(pids);
    },
  );

  test.skipIf(terminalMissing)(
    'SIGKILL of the wrapper at a terminal: the command and the stack end too',
    async () => {
      const { pids, wrapper } = await atTerminal();
      process.kill(wrapper, 'SIGKILL');
      await gone(pids.filter((pid) => pid !== wrapper));
    },
  );

  test('SIGKILL of the wrapper: command, what it started, chain and watchers end', async () => {
    const run = await begun('sleep 600 & echo begun; sleep 600');
    expect(await run.stop('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await gone(run.pids);
  });

  test('what the command leaves behind ends with it, on success too', async () => {
    const { code, stdout } = await script('sleep 600 > /dev/null 2>&1 & echo $!');
    expect(code).toBe(0);
    const left = Number(stdout);
    expect(left).toBeGreaterThan(1);
    await gone([left]);
  });

  test('a signal before the stack is ready: the command is not run, nothing is left', async () => {
    const env = await slowStart(project.path);
    const run = startProcess(['exec', '--', 'echo', 'ran'], { cwd: project.path, env });
    const pid = run.child.pid ?? 0;
    let pids: number[] = [];
    while (pids.length === 0 && run.child.exitCode === null) {
      await delay(20);
      pids = descendants(pid).map((row) => row.pid);
    }
    expect(await run.stop('SIGTERM')).toEqual({ code: exitCodes.terminated, signal: null });
    await gone([pid, ...pids]);
  });
});

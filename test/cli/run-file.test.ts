import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findRunFile, namedRuns, removeRunFile, writeRunFile } from '../../src/stack/run-file.ts';
import { temporaryDirectory } from '../kits/service/cli.ts';
import { runInfo } from './stub-service.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(() => project.remove());

const info = (more?: Parameters<typeof runInfo>[1]) => runInfo('http://127.0.0.1:1', more);
const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

/** A process that runs, and the way to end it. */
async function bystander() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' });
  await once(child, 'spawn');
  return {
    pid: child.pid ?? 0,
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('the run file', () => {
  test('is for its owner alone, and ignored by git', async () => {
    const path = await writeRunFile(project.path, info());
    expect(path).toBe(join(project.path, '.rewards', 'run.json'));
    expect(await mode(path)).toBe('600');
    expect(await mode(join(project.path, '.rewards'))).toBe('700');
    expect(await readFile(join(project.path, '.rewards', '.gitignore'), 'utf8')).toBe('*\n');
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({
      version: 1,
      pid: process.pid,
      startTime: expect.any(String),
      controlToken: 'control-token',
      dataDir: '/nowhere',
    });
  });

  test('closes a project folder that was open', async () => {
    await mkdir(join(project.path, '.rewards'), { mode: 0o755 });
    await writeRunFile(project.path, info());
    expect(await mode(join(project.path, '.rewards'))).toBe('700');
  });

  test('is found in the directory and below it, with no word about it', async () => {
    const path = await writeRunFile(project.path, info());
    const deep = join(project.path, 'a', 'b');
    await mkdir(deep, { recursive: true });
    for (const start of [project.path, deep]) {
      expect(await findRunFile(start)).toMatchObject({ run: { path, pid: process.pid }, notes: [] });
    }
  });

  test('the nearest live one wins', async () => {
    const inner = join(project.path, 'inner');
    await mkdir(inner);
    const outerPath = await writeRunFile(project.path, info());
    const child = await bystander();
    const innerPath = await writeRunFile(inner, info({ pid: child.pid }));
    expect((await findRunFile(inner)).run?.path).toBe(innerPath);
    await child.kill();
    const after = await findRunFile(inner);
    expect(after.run?.path).toBe(outerPath);
    expect(after.notes).toEqual([expect.stringContaining(`process ${child.pid}, which is gone`)]);
  });

  test('of a process whose number went to another one is passed over', async () => {
    const path = await writeRunFile(project.path, info());
    const run = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, JSON.stringify({ ...run, startTime: 'another boot:1' }));
    expect(await findRunFile(project.path)).toMatchObject({ notes: [expect.stringContaining('left over')] });
    expect((await findRunFile(project.path)).run).toBeUndefined();
  });

  test.each([
    '',
    'null',
    '[]',
    '{',
    '{"version":2,"pid":1,"urls":{"events":"x"}}',
    '{"version":1,"pid":"1"}',
  ])('that says %j is passed over', async (text) => {
    const path = await writeRunFile(project.path, info());
    await writeFile(path, text);
    expect(await findRunFile(project.path)).toEqual({ notes: [expect.stringContaining('not a run file')] });
  });

  test('is removed by its own process only', async () => {
    const child = await bystander();
    const path = await writeRunFile(project.path, info({ pid: child.pid }));
    await removeRunFile(path, process.pid);
    expect((await findRunFile(project.path)).run?.pid).toBe(child.pid);
    await removeRunFile(path, child.pid);
    expect((await findRunFile(project.path)).run).toBeUndefined();
    await child.kill();
    await removeRunFile(path, child.pid);
  });

  test('stacks with names live beside each other', async () => {
    await writeRunFile(project.path, info({ name: 'one' }));
    await writeRunFile(project.path, info({ name: 'two' }));
    expect((await findRunFile(project.path)).run).toBeUndefined();
    expect((await findRunFile(project.path, 'two')).run?.name).toBe('two');
    expect((await namedRuns(project.path)).sort()).toEqual(['one', 'two']);
  });
});

/** The programs that are one file, and the bytecode that each keeps of itself: used for that very program alone. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { manifest } from '../../src/cli/machine/manifest.ts';
import { until } from '../kits/service/clock.ts';

const root = new URL('../../', import.meta.url).pathname;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rewards-bytecode-'));
  mkdirSync(join(folder, 'dist'));
  for (const file of ['package.json', 'bin', 'dist/stack.cjs', 'dist/help.cjs'])
    cpSync(join(root, file), join(folder, file), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (file: string) => join(folder, 'dist', file);
function run(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'bin/rewards.js'), ...words], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

// There are no chunks in this folder: what is not in these two files cannot run.
describe.each([
  { program: 'stack', words: ['scenario', 'schema'], says: '"$schema"' },
  { program: 'help', words: ['--help'], says: 'All commands:' },
])('$program', ({ program, words, says }) => {
  const source = `${program}.cjs`;
  const bytecode = `${program}.bytecode`;

  test('is ASCII alone, so that texts are what they are when it is read byte by byte', () => {
    expect(readFileSync(at(source), 'latin1')).not.toMatch(/[^\0-\x7f]/);
  });

  test('is kept by the first run, and changes nothing for the next', () => {
    const first = run(...words);
    expect(first).toContain(says);
    const kept = readFileSync(at(bytecode));
    expect(run(...words)).toBe(first);
    expect(readFileSync(at(bytecode)).equals(kept)).toBe(true);
  });

  test('of a program that was replaced by another of the same length is not used', () => {
    run(...words);
    const before = readFileSync(at(source), 'latin1');
    const [line = ''] = /const __moduleUrl = .*?;/.exec(before) ?? [];
    const another = "const __moduleUrl = ''; process.stdout.write('another');".padEnd(line.length);
    expect(another).toHaveLength(line.length);
    writeFileSync(at(source), before.replace(line, another), 'latin1');
    expect(run(...words)).toMatch(/^another/);
  });

  test('that is damaged, or cannot be written, stops no start', () => {
    const first = run(...words);
    const kept = readFileSync(at(bytecode));
    writeFileSync(at(bytecode), kept.subarray(0, kept.length / 2));
    expect(run(...words)).toBe(first);
    rmSync(at(bytecode));
    mkdirSync(at(bytecode));
    expect(run(...words)).toBe(first);
    expect(existsSync(at(bytecode))).toBe(true);
  });
});

// The chunk of the live view is not in this folder: what wanted it would say so.
test.each([
  { words: ['-o', 'json'], says: '"type":"ready"' },
  { words: [], says: 'emulator ready' },
])('serve $words in a pipe loads no Ink, and no line tells of a live view', async ({ words, says }) => {
  cpSync(join(root, 'fixtures'), join(folder, 'fixtures'), { recursive: true });
  const args = [join(folder, 'bin/rewards.js'), 'serve', '--ephemeral', '--port', '0', '--rpc-port', '0'];
  const child = spawn(process.execPath, [...args, ...words], { cwd: folder });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
  await until('the stack', () => said.includes(says));
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  expect(said).not.toContain('live view');
});

test.each([
  { words: [], says: 'Run it' },
  { words: ['-h'], says: 'Run it' },
  { words: ['help'], says: 'Run it' },
  { words: ['--version'], says: manifest.version },
  { words: ['serve', '--help'], says: '--ephemeral' },
  { words: ['clock', 'advance', '-h'], says: 'rewards clock advance' },
  { words: ['exec', '--help'], says: 'rewards exec' },
])('$words loads nothing that commands do', ({ words, says }) => {
  rmSync(at('stack.cjs'));
  expect(run(...words)).toContain(says);
});

test.each([{ words: ['exec', '--', 'node', '--help'] }, { words: ['serve', '--name', '--help'] }])(
  '$words is not taken for a question about a command',
  ({ words }) => {
    rmSync(at('stack.cjs'));
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'bin/rewards.js'), ...words], {
      encoding: 'utf8',
    });
    expect(stderr).toContain('the program is not built yet');
    expect(status).toBe(5);
  },
);

/** The bytecode that a stack's program keeps of itself: used for that very program alone. */
import { spawnSync } from 'node:child_process';
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
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rewards-bytecode-'));
  mkdirSync(join(folder, 'dist'));
  for (const file of ['package.json', 'bin', 'dist/stack.cjs'])
    cpSync(join(root, file), join(folder, file), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (file: string) => join(folder, 'dist', file);
function help(): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'bin/rewards.js'), 'serve', '--help'],
    { encoding: 'utf8' },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

test('is kept by the first run, and changes nothing for the next', () => {
  const first = help();
  expect(first).toContain('--ephemeral');
  const kept = readFileSync(at('stack.bytecode'));
  expect(help()).toBe(first);
  expect(readFileSync(at('stack.bytecode')).equals(kept)).toBe(true);
});

test('of a program that was replaced by another of the same length is not used', () => {
  help();
  const source = readFileSync(at('stack.cjs'), 'latin1');
  const [line = ''] = /const __moduleUrl = .*?;/.exec(source) ?? [];
  const another = "const __moduleUrl = ''; process.stdout.write('another');".padEnd(line.length);
  expect(another).toHaveLength(line.length);
  writeFileSync(at('stack.cjs'), source.replace(line, another), 'latin1');
  expect(help()).toMatch(/^another/);
});

test('that is damaged, or cannot be written, stops no start', () => {
  const first = help();
  const kept = readFileSync(at('stack.bytecode'));
  writeFileSync(at('stack.bytecode'), kept.subarray(0, kept.length / 2));
  expect(help()).toBe(first);
  rmSync(at('stack.bytecode'));
  mkdirSync(at('stack.bytecode'));
  expect(help()).toBe(first);
  expect(existsSync(at('stack.bytecode'))).toBe(true);
});

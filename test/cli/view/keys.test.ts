/** Who gets the live view, and its keys: each is a command that exists. */
import { expect, test } from 'vitest';
import { plainStyle } from '../../../src/cli/terminal/style.ts';
import type { Terminal } from '../../../src/cli/terminal/terminal.ts';
import { wantsView } from '../../../src/cli/view/attach-view.ts';
import { keys, keysText } from '../../../src/cli/view/keys.ts';
import { rewards } from '../../kits/service/cli.ts';

const terminal = (isInFront: boolean): Terminal => ({
  streams: { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
  size: () => ({ columns: 80, rows: 24 }),
  divert: () => () => {},
  isInFront: () => isInFront,
  sendToAll() {},
  stopSelf() {},
  on: () => () => {},
});

interface Around {
  env?: Record<string, string>;
  quiet?: boolean;
  output?: 'text' | 'json';
  plain?: boolean;
  at?: Terminal | undefined;
}

function isWanted({ env = {}, quiet = false, output = 'text', plain, ...around }: Around): boolean {
  const at = 'at' in around ? around.at : terminal(true);
  const runtime = { env, ...(at && { terminal: at }) };
  return (
    wantsView({ runtime, settings: { output, quiet } }, { ...(plain !== undefined && { plain }) }) !==
    undefined
  );
}

test('a person at a terminal gets the view', () => {
  expect(isWanted({})).toBe(true);
  expect(isWanted({ env: { TERM: 'xterm', NO_COLOR: '1' }, plain: false })).toBe(true);
});

test.each<[string, Around]>([
  ['--plain', { plain: true }],
  ['-o json', { output: 'json' }],
  ['--quiet', { quiet: true }],
  ['CI', { env: { CI: 'true' } }],
  ['TERM=dumb', { env: { TERM: 'dumb' } }],
  ['a screen reader', { env: { INK_SCREEN_READER: 'true' } }],
  ['a pipe', { at: undefined }],
  ['the background', { at: terminal(false) }],
])('with %s there are lines alone', (_, around) => {
  expect(isWanted(around)).toBe(false);
});

test('each key is there once, with a word for the footer', () => {
  expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
  for (const { key, word } of keys) expect(`${key} ${word}`.length).toBeLessThan(20);
});

test.each(keys)('$key: `$command` is a command', async ({ command }) => {
  const words = command.split(' ').slice(1);
  const options = words.filter((word) => word.startsWith('--') && word !== '--help');
  const end = words.findIndex((word) => word === 'latest' || !/^[a-z]+$/.test(word));
  const named = end === -1 ? words : words.slice(0, end);
  const { code, stdout } = await rewards([...named, '--help']);
  expect(code).toBe(0);
  expect(stdout).toContain(`Usage: rewards ${named.join(' ')}`.trimEnd());
  for (const option of options) expect(stdout).toContain(option);
});

test('the list of keys has them all in any width; without the emulator it says which need it', () => {
  const wide = keysText(plainStyle, { acts: true, isOwn: true, columns: 200 });
  const rows = wide.split('\n').map((line) => line.trim().split(/ {2,}/));
  expect(rows).toEqual(keys.map(({ key, what, command }) => [key, what, command]));
  const narrow = keysText(plainStyle, { acts: true, isOwn: true, columns: 40 });
  expect(Math.max(...narrow.split('\n').map((line) => line.length))).toBeLessThanOrEqual(40);
  const reading = keysText(plainStyle, { acts: false, isOwn: false, columns: 200 });
  expect(reading.match(/needs the emulator/g)).toHaveLength(keys.filter((row) => 'does' in row).length);
  expect(reading).not.toMatch(/rewards (undo|stop)/);
  expect(reading).toContain('end the view; the stack goes on');
});

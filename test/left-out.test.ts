/** A run on a machine that lacks parts says so once, in one line; where all are required it fails. */
import { expect, test } from 'vitest';
import { leaveOut, noteLeftOut } from './kits/run/left-out.ts';

test('parts that many files lack are named in one line, each once', () => {
  const env: NodeJS.ProcessEnv = {};
  const line = noteLeftOut(env);
  expect(leaveOut('zsh', 'install zsh', { env })).toBe('no zsh here: its tests are left out (install zsh)');
  leaveOut('Postgres', 'install postgresql', { env });
  leaveOut('zsh', 'install zsh', { env });
  expect(line()).toBe(
    'left out, since this machine lacks it: Postgres (install postgresql), zsh (install zsh)',
  );
});

test('a run that lacks nothing says nothing', () => {
  expect(noteLeftOut({})()).toBeUndefined();
});

test('where every part is required, none is left out', () => {
  const env = { REWARDS_TEST_REQUIRE: 'all' };
  const line = noteLeftOut(env);
  expect(() => leaveOut('zsh', 'install zsh', { env })).toThrow('no zsh here');
  expect(line()).toBeUndefined();
});

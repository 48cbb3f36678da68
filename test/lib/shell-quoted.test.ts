/** Texts as words of a command that is pasted: whatever is in them, every usual shell runs that command and nothing else. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shellLine } from '../../src/lib/text/shell-quoted.ts';
import { programMissing } from '../kits/run/programs.ts';

const hostile = [
  '$(touch pwned)',
  '`touch pwned`',
  "'; touch pwned; '",
  "'\u0015; touch pwned; '",
  "\\'; touch pwned; '",
  "\\'; touch pwned; echo \\'",
  "{'; touch pwned; '",
  '"; touch pwned; "',
  'a\ntouch pwned\n',
  '; touch pwned #',
  '(touch pwned)',
  '\\',
  "it's \\x41 {user} !! ~ * ? $HOME",
];

/** Each word that `rewards` was given, one after the other. */
const FUNCTION = `rewards() { for one in "$@"; do printf '%s\\0' "$one"; done; }`;
const shells = [
  { shell: 'bash', options: ['--norc'], define: FUNCTION, isExact: true },
  { shell: 'zsh', options: ['-f'], define: FUNCTION, isExact: true },
  { shell: 'sh', options: [], define: FUNCTION, isExact: false },
  { shell: 'fish', options: ['--no-config'], define: 'function rewards; end', isExact: false },
] as const;

describe.each(shells)('in $shell', ({ shell, options, define, isExact }) => {
  test.skipIf(shell !== 'sh' && programMissing(shell))('nothing that is in a text is run', () => {
    const cwd = mkdtempSync(join(tmpdir(), 'rewards-shell-'));
    try {
      for (const text of hostile) {
        const line = shellLine`rewards users show ${text}`;
        const { stdout } = spawnSync(shell, [...options, '-c', `${define}\n${line}`], {
          cwd,
          encoding: 'utf8',
        });
        expect([text, readdirSync(cwd)]).toEqual([text, []]);
        if (isExact) expect(stdout.split('\0').slice(0, -1)).toEqual(['users', 'show', text]);
      }
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });
});

/** A terminal as a person has one: keys go in, and what it shows can be read and resized. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { program } from '../service/cli.ts';

export type TmuxTerminal = ReturnType<typeof openTmux>;

interface Wanted {
  cwd: string;
  columns: number;
  rows: number;
  env?: Record<string, string>;
  /** Of its server, where a folder has several. */
  name?: string;
}

/** For what hangs, not for what is slow. */
const SHOWN_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 50;

/** A shell in a terminal of its own, whose commands know `rewards`; its server ends with `close`. */
export function openTmux({ cwd, columns, rows, env = {}, name = 'tmux' }: Wanted) {
  const socket = join(cwd, name);
  const bin = join(cwd, `${name}-bin`);
  mkdirSync(bin);
  symlinkSync(program, join(bin, 'rewards'));
  // What CI and this machine's settings would change is not told to the shell.
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(CI|NO_COLOR|FORCE_COLOR|TMUX|npm_.*|REWARDS_.*)$/.test(name),
  );
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...Object.fromEntries(own), PATH: `${bin}:${process.env.PATH}`, LC_ALL: 'C.UTF-8', ...env },
    });
  tmux(
    'new-session',
    '-d',
    '-s',
    'it',
    '-x',
    String(columns),
    '-y',
    String(rows),
    '-c',
    cwd,
    'bash --norc -i',
  );
  const keys = (...names: string[]) => tmux('send-keys', '-t', 'it', ...names);
  /** The rows of the screen, without the blank ones at its end. */
  const screen = () => tmux('capture-pane', '-p', '-t', 'it').trimEnd().split('\n');
  const terminal = {
    keys,
    screen,
    /** The same with all that has scrolled away, and lines that the terminal has broken in one. */
    everything: () => tmux('capture-pane', '-p', '-J', '-S', '-', '-t', 'it').trimEnd(),
    /** As the clipboard's text comes. */
    paste(text: string) {
      tmux('set-buffer', text);
      tmux('paste-buffer', '-p', '-t', 'it');
    },
    type: (line: string) => keys(line, 'Enter'),
    resize: (to: { columns: number; rows: number }) =>
      tmux('resize-window', '-t', 'it', '-x', String(to.columns), '-y', String(to.rows)),
    isCursorShown: () => tmux('display', '-p', '-t', 'it', '#{cursor_flag}').trim() === '1',
    /** Waits until the screen is as it should be, and gives its rows. Throws with what is on it instead. */
    async shows(what: string | RegExp | ((rows: string[]) => boolean)): Promise<string[]> {
      const isShown = (rows: string[]) => {
        if (typeof what === 'function') return what(rows);
        const text = rows.join('\n');
        return typeof what === 'string' ? text.includes(what) : what.test(text);
      };
      for (const deadline = Date.now() + SHOWN_WITHIN_MS; ; await setTimeout(LOOK_EVERY_MS)) {
        const rows = screen();
        if (isShown(rows)) return rows;
        if (Date.now() > deadline) throw new Error(`${what}\nis not on\n${rows.join('\n')}`);
      }
    },
    close: () => tmux('kill-server'),
  };
  terminal.type("PS1='shell$ '; clear");
  return terminal;
}

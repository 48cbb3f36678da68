/** The live view of a stack as a terminal shows it, for docs/images. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** For what hangs, not for what is slow. */
const DRAWN_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 100;

/** What stands on the screen of `rewards top` in `folder`, with its colours, once it is drawn. tmux has to be installed. */
export async function liveViewOf({ folder, program, environment, columns, rows }) {
  const tmux = (...words) =>
    execFileSync('tmux', ['-S', join(folder, 'tmux'), '-f', '/dev/null', ...words], {
      encoding: 'utf8',
      env: { ...environment, LC_ALL: 'C.UTF-8' },
    });
  const command = `'${process.execPath}' '${program}' top`;
  tmux('new-session', '-d', '-s', 'it', '-x', String(columns), '-y', String(rows), '-c', folder, command);
  try {
    for (let waitedMs = 0; waitedMs < DRAWN_WITHIN_MS; waitedMs += LOOK_EVERY_MS) {
      const screen = tmux('capture-pane', '-e', '-p', '-t', 'it');
      if (screen.includes('keys')) return wholeLines(screen.replace(/^[^\n]*--plain[^\n]*\n/, '').trim());
      await setTimeout(LOOK_EVERY_MS);
    }
    throw new Error('the live view was not drawn');
  } finally {
    tmux('kill-server');
  }
}

/** Each line with the style that the one before it ends in, which tmux says only once. */
function wholeLines(screen) {
  let style = '';
  return screen
    .split('\n')
    .map((line) => {
      const whole = style + line;
      style = line.match(/\u001b\[[\d;]*m/g)?.at(-1) ?? style;
      return whole;
    })
    .join('\n');
}

/** The live view of a stack at a terminal that nobody sees: `rewards top` in a pseudo-terminal of util-linux' `script`. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { end, environmentWith, program } from './processes.ts';

/** As large as people have one. */
const SIZE = 'stty cols 120 rows 40';

export const terminalMissing = (): boolean => spawnSync('script', ['--version']).status !== 0;

/** `cwd`: the folder of the stack. `drawn` says how often the view was drawn since it was opened. */
export async function openTerminalView(cwd: string) {
  const { CI: _, ...env } = environmentWith({ TERM: 'xterm-256color' });
  const command = `${SIZE}; exec '${process.execPath}' '${program()}' top`;
  // Its input stays open: its end would be the end of the view.
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { ...env, SHELL: '/bin/sh' },
    cwd,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let drawn = 0;
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000);
    if (/requests/.test(text)) drawn++;
  });
  const over = once(child, 'exit').then(() => {
    throw new Error(`rewards top ended: ${said}`);
  });
  over.catch(() => {});
  while (drawn === 0) await Promise.race([once(child.stdout, 'data'), over]);
  return { drawn: () => drawn, stop: () => end(child) };
}

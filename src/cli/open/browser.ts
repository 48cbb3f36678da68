/** Opens an address in the browser of whoever sits at the machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '../../compose/env.ts';

const openers: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  // `start` takes its first quoted argument for a title.
  win32: ['cmd', '/c', 'start', ''],
};

/** Resolves with whether a program that opens addresses has been started; it goes on by itself. */
export async function openBrowser(url: string, env: Environment): Promise<boolean> {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  // `&` ends a command of cmd.
  const address = process.platform === 'win32' ? url.replaceAll('&', '^&') : url;
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true, env });
  child.unref();
  try {
    await once(child, 'spawn');
    return true;
  } catch {
    return false;
  }
}

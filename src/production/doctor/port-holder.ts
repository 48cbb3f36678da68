/** Finds the program that listens on a port of this machine. */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';

/** Such as `node (pid 4711)`; undefined where the system does not tell this user. */
export async function portHolder(port: number): Promise<string | undefined> {
  const pid = process.platform === 'linux' ? await pidOnLinux(port) : await pidByLsof(port);
  if (pid === undefined) return undefined;
  return `${await nameOf(pid)} (pid ${pid})`;
}

/** The state of a socket that listens, in /proc/net/tcp. */
const LISTENING = '0A';

async function pidOnLinux(port: number): Promise<number | undefined> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((table) => readFile(`/proc/net/${table}`, 'utf8').catch(() => '')),
  );
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = tables
    .join('\n')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(suffix) && fields[3] === LISTENING)
    .map((fields) => `socket:[${fields[9]}]`);
  if (sockets.length === 0) return undefined;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    // Those of other users cannot be read, and some end meanwhile.
    const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const file of files) {
      const target = await readlink(`/proc/${pid}/fd/${file}`).catch(() => '');
      if (sockets.includes(target)) return Number(pid);
    }
  }
  return undefined;
}

async function pidByLsof(port: number): Promise<number | undefined> {
  const args = ['-nP', '-t', `-iTCP:${port}`, '-sTCP:LISTEN'];
  const { stdout } = await promisify(execFile)('lsof', args, { timeout: 5_000 }).catch(() => ({
    stdout: '',
  }));
  return Number(stdout.split('\n')[0]) || undefined;
}

/** The program without its arguments, which may hold secrets. */
async function nameOf(pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'comm=', '-p', String(pid)], {
    timeout: 5_000,
  }).catch(() => ({ stdout: '' }));
  const name = stdout.trim() || (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim();
  return name ? basename(name) : 'a program';
}

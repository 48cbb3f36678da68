/** Looks whether the ports are free that `serve` or `start` would listen on here, says what each is for, and who listens there. */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { namesOf, type Setting } from '../../lib/setting.ts';
import { findRunFile } from '../../stack/run-file.ts';
import { startSettings } from '../settings.ts';
import type { Observation } from './observation.ts';

interface Port {
  role: string;
  bindAddress: string;
  port: number;
  flag: string;
  variable: string;
}

interface PortsInput {
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Whether this machine is set up for `start`, rather than for `serve`. */
  isProduction: boolean;
}

const API = 'the API';
const LIVEZ_TIMEOUT_MS = 3_000;

export async function lookAtPorts(input: PortsInput): Promise<Observation[]> {
  const ports = input.isProduction ? portsOfStart(input.env) : portsOfServe(input.env);
  const ours = await portsInUse(input, ports);
  return Promise.all(ports.map((one) => lookAtPort(one, ours)));
}

function portsOfStart(env: PortsInput['env']): Port[] {
  const { bindAddress, port, adminBindAddress, adminPort } = startSettings;
  const text = (row: Setting<unknown>) => env[namesOf(row).variable] ?? row.default ?? '';
  const at = (role: string, address: Setting<unknown>, row: Setting<unknown>): Port => ({
    role,
    bindAddress: text(address),
    port: Number(text(row)),
    flag: namesOf(row).long,
    variable: namesOf(row).variable,
  });
  return [at(API, bindAddress, port), at('health and metrics', adminBindAddress, adminPort)];
}

/** The ports that `serve` takes first. */
function portsOfServe(env: PortsInput['env']): Port[] {
  const at = (role: string, flag: string, variable: string, usual: number): Port => ({
    role,
    bindAddress: '127.0.0.1',
    port: Number(env[variable] ?? usual),
    flag,
    variable,
  });
  return [
    at(API, '--port', 'REWARDS_DEV_PORT', 8787),
    at('the local chain', '--rpc-port', 'REWARDS_DEV_RPC_PORT', 8545),
  ];
}

/** Those of a stack or service of ours that runs already. */
async function portsInUse({ cwd, isProduction }: PortsInput, ports: Port[]): Promise<Set<number>> {
  if (!isProduction) {
    const { run } = await findRunFile(cwd);
    return new Set(Object.values(run?.urls ?? {}).map((url) => Number(new URL(url).port)));
  }
  const [admin] = ports.slice(-1);
  const isLive = admin !== undefined && (await answersLivez(admin));
  return new Set(isLive ? ports.map(({ port }) => port) : []);
}

/** Whether a service of ours has its admin listener there. */
export async function answersLivez({
  bindAddress,
  port,
}: Pick<Port, 'bindAddress' | 'port'>): Promise<boolean> {
  const address = bindAddress === '0.0.0.0' ? '127.0.0.1' : bindAddress;
  const host = address.includes(':') ? `[${address}]` : address;
  const signal = AbortSignal.timeout(LIVEZ_TIMEOUT_MS);
  const answer = await fetch(`http://${host}:${port}/livez`, { signal }).catch(() => undefined);
  return answer?.status === 200;
}

async function lookAtPort(
  { role, port, bindAddress, flag, variable }: Port,
  ours: ReadonlySet<number>,
): Promise<Observation> {
  const check = 'ports';
  if (port === 0) return { check, message: `any free port will do for ${role}` };
  if (await isFree(bindAddress, port)) return { check, message: `port ${port} is free for ${role}` };
  if (ours.has(port))
    return { check, message: `port ${port}, for ${role}, is used by the service that runs here` };
  const holder = (await portHolder(port)) ?? 'another program';
  return {
    check,
    message: `port ${port}, for ${role}, is taken by ${holder}`,
    fix: `stop it, or give another port with ${flag} (${variable})`,
  };
}

function isFree(bindAddress: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, bindAddress, () => server.close(() => resolve(true)));
  });
}

/** Such as `node (pid 4711)`; undefined where the system does not tell this user. */
async function portHolder(port: number): Promise<string | undefined> {
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

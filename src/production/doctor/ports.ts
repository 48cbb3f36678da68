/** Looks whether the ports are free that `serve` or `start` would listen on here, and says what each is for. */
import { createServer } from 'node:net';
import { namesOf, type Setting } from '../../lib/setting.ts';
import { findRunFile } from '../../stack/run-file.ts';
import { startSettings } from '../settings.ts';
import type { Observation } from './observation.ts';
import { portHolder } from './port-holder.ts';

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

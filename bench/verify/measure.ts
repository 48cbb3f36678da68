/** Runs the service on a ledger with a long past and compares it with its chain, while events are taken. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { HDKey } from '@scure/bip32';
import { keccak256, toBytes } from 'viem';
import { environmentWith } from '../setup/processes.ts';
import { brandIds, CHAIN_ID, contracts, DEPLOYMENT_BLOCK, keys } from './history.ts';

/** What a comparison cost, and what the service's callers felt meanwhile. */
export interface VerifyMeasured {
  seconds: number;
  rewards: number;
  /** Of the process that compared, at its largest. */
  peakMb: number;
  /** Whether that process was the service itself. */
  inService: boolean;
  livezMaxMs: number;
  events: { answered: number; failed: number; maxMs: number };
  /** Times that a lane was taken anew after the start: each is a lease that was lost. */
  leasesLost: number;
  differences: number;
}

const PROBE_EVERY_MS = 50;
const EVENT_EVERY_MS = 50;

export interface Run {
  program: string;
  databaseUrl: string;
  nodeUrl: string;
  say: (text: string) => void;
}

/** The settings of a service on such a ledger and its chain. */
export const serviceEnvironment = (
  { databaseUrl, nodeUrl }: Pick<Run, 'databaseUrl' | 'nodeUrl'>,
  more: Record<string, string>,
): Record<string, string> => ({
  REWARDS_DATABASE_URL: databaseUrl,
  REWARDS_ALLOW_SQLITE: 'true',
  REWARDS_RPC_URL: nodeUrl,
  REWARDS_ALLOW_SINGLE_RPC: 'true',
  REWARDS_CHAIN_ID: String(CHAIN_ID),
  REWARDS_TOKEN_ADDRESS: contracts.token,
  REWARDS_ESCROW_ADDRESS: contracts.escrow,
  REWARDS_PERKS_ADDRESS: contracts.perks,
  REWARDS_POINTS_SALE_ADDRESS: contracts.pointsSale,
  REWARDS_DEPLOYMENT_BLOCK: String(DEPLOYMENT_BLOCK),
  REWARDS_PAYOUT_KEY: keys.payout,
  REWARDS_MINT_KEY: keys.mint,
  REWARDS_RELAY_KEY: keys.relay,
  REWARDS_WALLETS_XPUB: HDKey.fromMasterSeed(toBytes(keccak256('0x01'))).derive("m/44'/60'/0'/0")
    .publicExtendedKey,
  REWARDS_PUBLIC_HOST: 'rewards.example',
  REWARDS_TRUST_PROXY: '127.0.0.1',
  REWARDS_PORT: '0',
  REWARDS_ADMIN_PORT: '0',
  REWARDS_CONFIRMATIONS: '1',
  REWARDS_FIRST_BLOCK_WAIT: '0s',
  REWARDS_BLOCK_POLL: '100ms',
  ...more,
});

/**
 * Compares once: a service on SQLite by itself, as it does every hour, since nobody else may open its file; beside a
 * service on Postgres with `rewards verify`.
 */
export async function measureVerify(run: Run): Promise<VerifyMeasured> {
  const inService = run.databaseUrl.startsWith('sqlite:');
  const service = await startService(run, inService ? '3s' : '0s');
  const stopLoad = new AbortController();
  try {
    const livez = probe(`${service.admin}/livez`, stopLoad.signal);
    const events = sendEvents({ url: service.events, say: run.say }, stopLoad.signal);
    await delay(1_000);
    const takenBefore = service.lanesTaken();
    const compared = inService ? await ownComparison(service) : await verifyCommand(run);
    const leasesLost = service.lanesTaken() - takenBefore;
    stopLoad.abort();
    return { ...compared, inService, leasesLost, livezMaxMs: await livez, events: await events };
  } finally {
    stopLoad.abort();
    await service.stop();
  }
}

type Compared = Pick<VerifyMeasured, 'seconds' | 'rewards' | 'peakMb' | 'differences'>;
type Service = Awaited<ReturnType<typeof startService>>;

/** Waits until the service has compared by itself. */
async function ownComparison(service: Service): Promise<Compared> {
  for (;;) {
    await delay(500);
    const text = await (await fetch(`${service.admin}/metrics`)).text();
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
    if (value('rewards_verify_timestamp_seconds') === 0) continue;
    return {
      seconds: value('rewards_verify_duration_seconds'),
      differences: value('rewards_verify_differences'),
      rewards: Number.NaN,
      peakMb: peakMb(service.pid),
    };
  }
}

async function verifyCommand(run: Run): Promise<Compared> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [run.program, 'verify', '-o', 'json'], {
    env: environmentWith(serviceEnvironment(run, {})),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const ended = once(child, 'close');
  let peak = 0;
  const watching = setInterval(() => {
    peak = Math.max(peak, peakMb(child.pid ?? 0));
  }, 100);
  await ended;
  clearInterval(watching);
  const seconds = (performance.now() - startedAt) / 1_000;
  const answer = JSON.parse(output) as { data: { differences: unknown[]; checked: { rewards: number } } };
  const { differences, checked } = answer.data;
  for (const one of differences.slice(0, 5)) run.say(JSON.stringify(one));
  return { seconds, differences: differences.length, rewards: checked.rewards, peakMb: peak };
}

/** The largest resident memory that a process has had; 0 where there is no /proc. */
function peakMb(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

async function startService(run: Run, verifyEvery: string) {
  const child = spawn(process.execPath, [run.program, 'start', '-o', 'json', '--log-level', 'info'], {
    env: environmentWith(serviceEnvironment(run, { REWARDS_VERIFY_EVERY: verifyEvery })),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let lanesTaken = 0;
  let log = '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (/"lane taken"|lease on the lane/.test(line)) lanesTaken += 1;
    if (/"level":"?(?:warn|error|40|50)/.test(line)) run.say(line);
    log = `${log}${line}\n`.slice(-4_000);
  });
  const reader = createInterface({ input: child.stdout });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the service ended: ${log}`);
  });
  ended.catch(() => {});
  const [line] = (await Promise.race([once(reader, 'line'), ended])) as [string];
  const { urls } = JSON.parse(line) as { urls?: { events: string; admin: string } };
  if (!urls) throw new Error(`the service did not start: ${line}`);
  return { ...urls, pid: child.pid ?? 0, lanesTaken: () => lanesTaken, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** The longest that an address took to answer while it was asked again and again. */
async function probe(url: string, signal: AbortSignal): Promise<number> {
  let maxMs = 0;
  while (!signal.aborted) {
    const startedAt = performance.now();
    await (await fetch(url)).arrayBuffer();
    maxMs = Math.max(maxMs, performance.now() - startedAt);
    await delay(PROBE_EVERY_MS);
  }
  return maxMs;
}

/** An event at a time, each of a new user. */
async function sendEvents(
  { url, say }: { url: string; say: Run['say'] },
  signal: AbortSignal,
): Promise<VerifyMeasured['events']> {
  const result = { answered: 0, failed: 0, maxMs: 0 };
  for (let person = 0; !signal.aborted; person++) {
    const startedAt = performance.now();
    const response = await fetch(`${url}/rewards-api/manual-event`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-proto': 'https' },
      body: JSON.stringify({
        brandId: brandIds[0],
        domain: 'shop-0.example',
        eventType: 'form_submit',
        userEmail: `late-${person}@people.example`,
      }),
    });
    const answer = await response.text();
    if (response.status === 200) result.answered += 1;
    else result.failed += 1;
    if (result.failed === 1 && response.status !== 200) say(`an event failed: ${answer}`);
    result.maxMs = Math.max(result.maxMs, performance.now() - startedAt);
    await delay(EVENT_EVERY_MS);
  }
  return result;
}

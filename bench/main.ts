/** Measures the service against its baselines in one run and prints a table. docs/performance.md says what each row means. */
import { closeSync, fsyncSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { HDKey } from '@scure/bip32';
import { generatePrivateKey } from 'viem/accounts';
import {
  type Brand,
  blockNumber,
  brandsOf,
  CHAIN_ID,
  type Chain,
  prepareService,
  rewardsPaid,
  signTransfers,
  startChain,
  transactionsSince,
} from './chain.ts';
import { type Measured, measure, problemsOf, roundsOf, type Subject, until } from './measure.ts';
import { readOptions } from './options.ts';
import { startGenerator, startNaiveServer, startService } from './processes.ts';
import { CALLS_PER_USER, relayRequests, startIdentity } from './relay-users.ts';
import { type Machine, median, type Report, type Rounds, roundsTable, rowsOf, rowsTable } from './report.ts';

const options = readOptions('', {
  quick: { type: 'boolean', default: false, help: 'a run of under two minutes' },
  json: { type: 'string', help: 'file for the rows' },
  callers: { type: 'string', default: '256', help: 'connections, each with one request at a time' },
  brands: { type: 'string', default: '4', help: 'with a gas wallet each, so that relays have as many lanes' },
  dir: { type: 'string', default: tmpdir(), help: "where the ledger and the baseline's database are" },
});
const callers = Number(options.callers);
const plan = options.quick
  ? { rounds: 3, warmUp: 2, naive: 3, events: 7, relays: 7, transfersEach: 16 }
  : { rounds: 5, warmUp: 5, naive: 10, events: 20, relays: 20, transfersEach: 48 };
/** More users than there can be calls for: 2,000 relays a second. */
const relaySeconds = plan.warmUp + plan.rounds * plan.relays;
const relayUsers = callers * Math.ceil((2_000 * relaySeconds) / CALLS_PER_USER / callers);
const names = ['naive', 'events', 'raw', 'relays'] as const;
type Name = (typeof names)[number];

const say = (text: string) => process.stderr.write(`${text}\n`);

function machine(folder: string): Machine {
  const file = openSync(join(folder, 'fsync'), 'w');
  const times = Array.from({ length: 50 }, () => {
    const startedAt = performance.now();
    writeSync(file, Buffer.alloc(4_096), 0, 4_096, 0);
    fsyncSync(file);
    return performance.now() - startedAt;
  });
  closeSync(file);
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    fsyncMs: Number(median(times).toPrecision(2)),
  };
}

/** The service as an operator of one machine would start it, on a chain of our own. */
async function startMeasuredService(
  chain: Chain,
  { folder, brands, identity }: { folder: string; brands: Brand[]; identity: Record<string, string> },
) {
  const file = join(folder, 'ledger.sqlite');
  const { keys, contracts, deploymentBlock } = await prepareService(chain, file, brands);
  const seed = Buffer.from(generatePrivateKey().slice(2), 'hex');
  const service = await startService({
    REWARDS_DATABASE_URL: `sqlite:${file}`,
    REWARDS_ALLOW_SQLITE: 'true',
    REWARDS_RPC_URL: chain.url,
    REWARDS_ALLOW_SINGLE_RPC: 'true',
    REWARDS_CHAIN_ID: String(CHAIN_ID),
    REWARDS_TOKEN_ADDRESS: contracts.token,
    REWARDS_ESCROW_ADDRESS: contracts.escrow,
    REWARDS_PERKS_ADDRESS: contracts.perks,
    REWARDS_POINTS_SALE_ADDRESS: contracts.pointsSale,
    REWARDS_DEPLOYMENT_BLOCK: String(deploymentBlock),
    REWARDS_PAYOUT_KEY: keys.payout,
    REWARDS_MINT_KEY: keys.mint,
    REWARDS_RELAY_KEY: keys.relay,
    REWARDS_WALLETS_XPUB: HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'/0").publicExtendedKey,
    REWARDS_PUBLIC_HOST: 'rewards.example',
    REWARDS_TRUST_PROXY: '127.0.0.1',
    REWARDS_PORT: '0',
    REWARDS_ADMIN_PORT: '0',
    // A node of one's own with blocks of a second: it keeps many transactions of one account, and may be asked often.
    REWARDS_CONFIRMATIONS: '1',
    // How soon it pays after a start is not measured.
    REWARDS_FIRST_BLOCK_WAIT: '0s',
    REWARDS_BLOCK_POLL: '100ms',
    REWARDS_IN_FLIGHT_MAX: '64',
    REWARDS_GAS_BUDGET: '1000000',
    REWARDS_EXPLORER_URL: 'https://explorer.example',
    ...identity,
  });
  return { ...service, contracts };
}

/** The chain of the service, and the processes that are measured. */
async function startAll(folder: string, stops: (() => Promise<void>)[]) {
  const started = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const one = await starting;
    stops.push(() => one.stop());
    return one;
  };
  const brands = brandsOf(Number(options.brands));
  const generator = await started(startGenerator());
  const naive = await started(startNaiveServer(join(folder, 'naive.sqlite')));
  const chain = await started(startChain());
  const rawChain = await started(startChain());
  const identity = await started(startIdentity());
  const service = await started(startMeasuredService(chain, { folder, brands, identity: identity.env }));
  const file = (name: string, requests: unknown[]) => {
    const path = join(folder, name);
    writeFileSync(path, requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
    return path;
  };
  const { perks } = service.contracts;
  const users = file('relays.jsonl', await relayRequests(identity, { perks, brands, users: relayUsers }));
  const each = plan.transfersEach * (plan.rounds + 1);
  const transfers = file('transfers.jsonl', await signTransfers(rawChain, { callers, each }));
  return { generator, naive, chain, rawChain, service, brands, users, transfers };
}

function subjectsOf(parts: Awaited<ReturnType<typeof startAll>>): Record<Name, Subject> {
  const { naive, service, chain, rawChain, brands } = parts;
  const throughProxy = { 'x-forwarded-proto': 'https' };
  const body = JSON.stringify({
    ...{ brandId: brands[0]?.brandId, domain: brands[0]?.domain },
    ...{ eventType: 'form_submit', userEmail: 'user-{n}@people.example' },
  });
  const event = { requests: { kind: 'new users' as const, body }, headers: throughProxy };
  const eventPath = '/rewards-api/manual-event';
  return {
    naive: { load: { ...event, url: naive.url + eventPath }, pid: naive.pid },
    events: {
      load: { ...event, url: service.url + eventPath },
      pid: service.pid,
      chainPid: chain.pid,
      async settled() {
        const before = await rewardsPaid(chain.rpc, { ...service, brands });
        return (answered) =>
          until('rewards', async () => {
            const paid = (await rewardsPaid(chain.rpc, { ...service, brands })) - before;
            return paid >= answered;
          });
      },
    },
    raw: {
      load: {
        url: rawChain.url,
        requests: { kind: 'list', file: parts.transfers, each: 1, inOneLoad: plan.transfersEach },
        headers: {},
      },
      pid: rawChain.pid,
      async settled() {
        const before = await blockNumber(rawChain.rpc);
        return (answered) =>
          until('transfers', async () => (await transactionsSince(rawChain.rpc, before)) >= answered);
      },
    },
    relays: {
      load: {
        url: `${service.url}/relay`,
        requests: { kind: 'list', file: parts.users, each: CALLS_PER_USER },
        headers: throughProxy,
      },
      pid: service.pid,
      chainPid: chain.pid,
    },
  };
}

async function run(folder: string, stops: (() => Promise<void>)[]): Promise<Report> {
  say('preparing chains, contracts, users and signed transfers');
  const parts = await startAll(folder, stops);
  const subjects = subjectsOf(parts);
  const seconds = {
    naive: plan.naive,
    events: plan.events,
    raw: Number.MAX_SAFE_INTEGER,
    relays: plan.relays,
  };
  const round = async (name: Name, lasting: number) => {
    const measured = await measure(parts.generator, subjects[name], { callers, seconds: lasting });
    for (const problem of problemsOf(measured)) say(`${name}: ${problem}`);
    return measured;
  };
  say('warming up');
  for (const name of names) await round(name, Math.min(seconds[name], plan.warmUp));
  const found: Record<Name, Measured[]> = { naive: [], events: [], raw: [], relays: [] };
  for (let number = 1; number <= plan.rounds; number++) {
    for (const name of names) {
      const measured = await round(name, seconds[name]);
      found[name].push(measured);
      say(`round ${number} of ${plan.rounds}: ${name} ${perSecond(measured)} a second`);
    }
  }
  const rounds = Object.fromEntries(names.map((name) => [name, roundsOf(found[name])])) as Record<
    Name,
    Rounds
  >;
  const report = { machine: machine(folder), rows: rowsOf(rounds) };
  const { cpu, cores, memoryGiB, system, node, fsyncMs } = report.machine;
  say(`\n${cores} × ${cpu}, ${memoryGiB} GiB, ${system}, Node ${node}, one fsync ${fsyncMs} ms`);
  say(`${plan.rounds} rounds, ${callers} callers; medians, with the lowest and highest round\n`);
  say(`${roundsTable(rounds)}\n`);
  return report;
}

const perSecond = ({ answered, elapsedMs }: Measured) => Math.round((answered / elapsedMs) * 1_000);

const folder = await mkdtemp(join(options.dir, 'rewards-bench-'));
const stops: (() => Promise<void>)[] = [];
const cleanUp = async () => {
  for (const stop of stops.splice(0).reverse()) await stop().catch((error) => say(String(error)));
  await rm(folder, { recursive: true, force: true });
};
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void cleanUp().finally(() => process.exit(130)));
try {
  const report = await run(folder, stops);
  console.log(rowsTable(report.rows));
  if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
} finally {
  await cleanUp();
}

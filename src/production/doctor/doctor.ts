/** Checks a machine and its settings for problems that would prevent `serve` or `start`. Changes nothing. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import manifest from '../../../package.json' with { type: 'json' };
import { AnvilError, findAnvilBinary } from '../../chain/development/find-anvil.ts';
import { localKeySigner } from '../../chain/lane/local-key.ts';
import { type ChainClient, createChainClient } from '../../chain/rpc/client.ts';
import { createRpc } from '../../chain/rpc/rpc.ts';
import { settings } from '../../compose/config.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import { namesOf, unknownVariables } from '../../lib/setting.ts';
import { areBoundedBySpending, paysWithoutKey } from '../../rules/brands/pays-without-key.ts';
import type { SeededBrand } from '../../rules/brands/seed-changes.ts';
import { spendLimits } from '../../rules/events/spend-limit.ts';
import { findRunFile } from '../../stack/run-file.ts';
import type { SigningAccount } from '../gas-money.ts';
import { openOfflineLedger } from '../offline/offline-ledger.ts';
import { trySqlite } from '../pick-adapters.ts';
import { isGiven, readSecret, type Secret } from '../secrets.ts';
import { startSettings } from '../settings.ts';
import { moneySettings } from './money.ts';
import type { Observation } from './observation.ts';
import { lookAtPorts } from './ports.ts';

const check = 'keyless';

/** A problem only where no spend limit bounds it: public pages have no key, so paying without one is usual. */
export function lookAtKeyless(brands: readonly SeededBrand[]): Observation[] {
  const found = brands.flatMap(({ brand, rules }): Observation[] => {
    const payments = paysWithoutKey({ brand, rules });
    if (payments.length === 0) return [];
    const limits = spendLimits(brand.profile).map(
      ({ span, limit }) => `${limit} RWT in a${span === 'hour' ? 'n' : ''} ${span}`,
    );
    const ways = payments.map(({ pays, text, closedBy }) => `${pays} to ${text} (${closedBy} ends it)`);
    const isBounded = areBoundedBySpending(payments);
    const paidBefore = 'only what it has paid its users before';
    const ofLimits = limits.length === 0 ? 'without a spend limit' : `at most ${limits.join(' and ')}`;
    const most = isBounded ? ofLimits : paidBefore;
    const message = `${brand.name} pays without a key, ${most}: ${ways.join('; ')}`;
    if (limits.length > 0 || !isBounded) return [{ check, message }];
    return [
      {
        check,
        message,
        fix: `run \`rewards brand set ${brand.brandId} spendPerHour=1000\`, or what its busiest hour needs`,
      },
    ];
  });
  return found.length > 0 ? found : [{ check, message: 'no brand pays callers without its key' }];
}

interface DoctorInput {
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Names of all variables that this program reads. */
  variables: ReadonlySet<string>;
  database: Secret;
  nodes: Secret;
  allowSqlite: boolean;
  nowMs: () => number;
}

/** The checks; each returns its results, or an empty list when it does not apply. */
export const checks: Record<string, (input: DoctorInput) => Promise<Observation[]>> = {
  node: async () => {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    const [, least = '20', leastMinor = '0'] = /(\d+)\.(\d+)/.exec(manifest.engines.node) ?? [];
    const isEnough = major > Number(least) || (major === Number(least) && minor >= Number(leastMinor));
    const message = `Node ${process.versions.node}`;
    return [{ check: 'node', message, ...(!isEnough && { fix: `install Node ${manifest.engines.node}` }) }];
  },
  async sqlite() {
    try {
      await trySqlite();
      return [{ check: 'sqlite', message: 'the SQLite module works' }];
    } catch (error) {
      const message = `the SQLite module cannot be loaded: ${firstLine(error)}`;
      return [{ check: 'sqlite', message, fix: 'run `npm rebuild better-sqlite3`' }];
    }
  },
  async anvil() {
    try {
      const { stdout } = await promisify(execFile)(findAnvilBinary(), ['--version'], { timeout: 10_000 });
      return [{ check: 'anvil', message: stdout.split('\n')[0] ?? '' }];
    } catch (error) {
      const fix = 'run `npm ci` with optional dependencies, or use `rewards serve --rpc-url`';
      const advice = error instanceof AnvilError ? ` ${error.fix}` : '';
      return [{ check: 'anvil', message: `anvil does not run: ${firstLine(error)}${advice}`, fix }];
    }
  },
  ports: (input) => lookAtPorts({ ...input, isProduction: isGiven(input.database) }),
  async variables({ env, variables }) {
    const found = unknownVariables(env, variables).map(({ message, fix }) => ({
      check: 'variables',
      message,
      fix,
    }));
    return found.length > 0 ? found : [{ check: 'variables', message: 'every REWARDS_ variable is known' }];
  },
  async stack({ cwd }) {
    const { run, notes } = await findRunFile(cwd);
    const stale = notes.map((note) => ({ check: 'stack', message: note, fix: 'delete the run file' }));
    if (!run) return stale;
    const health = await healthOf(`${run.urls.events}${settings.apiPrefix}/health`);
    const message = `the stack at ${run.urls.events} ${health ? `is ${health}` : 'does not answer'}`;
    const isWell = health === 'healthy';
    return [
      ...stale,
      { check: 'stack', message, ...(!isWell && { fix: 'look at its log, or start it again' }) },
    ];
  },
  async database(input) {
    if (!isGiven(input.database)) return [];
    try {
      const ledger = await openOfflineLedger({ ...input, secret: input.database });
      try {
        const { pending, unsafe } = await ledger.status();
        return [
          { check: 'database', message: `${ledger.where} answers` },
          ...pending.map((name) => ({
            check: 'database',
            message: `migration ${name} is pending`,
            fix: 'run `rewards db migrate`',
          })),
          ...unsafe.map((setting) => ({
            check: 'database',
            message: `${setting}: acknowledged rewards can be lost`,
            fix: 'turn it on',
          })),
        ];
      } finally {
        await ledger.close();
      }
    } catch (error) {
      const { fix = 'check its address' } = error as { fix?: string };
      const withoutStop = (text: string) => text.replace(/\.$/, '');
      return [{ check: 'database', message: withoutStop(firstLine(error)), fix: withoutStop(fix) }];
    }
  },
  async keyless(input) {
    if (!isGiven(input.database)) return [];
    try {
      const ledger = await openOfflineLedger({ ...input, secret: input.database });
      try {
        return lookAtKeyless(await ledger.brandsWithRules());
      } finally {
        await ledger.close();
      }
    } catch {
      // A ledger that cannot be read, or is not migrated yet, is what `database` tells of.
      return [];
    }
  },
  async money(input) {
    if (!isGiven(input.database) || !isGiven(input.nodes)) return [];
    try {
      const ledger = await openOfflineLedger({ ...input, secret: input.database });
      try {
        const chain = await firstThatAnswers(input);
        if (!chain) return [];
        return await ledger.money(chain, await accountsGiven(input), moneySettings(input.env));
      } finally {
        await ledger.close();
      }
    } catch (error) {
      // What is wrong with database and nodes, `database` and `chain` tell.
      if (!(error instanceof PreconditionError)) throw error;
      return [];
    }
  },
  async chain(input) {
    if (!isGiven(input.nodes)) return [];
    const of = { cwd: input.cwd, secret: input.nodes };
    const urls = (await readSecret(startSettings.rpcUrls, of)) ?? [];
    const observations = await Promise.all(urls.map((url, place) => lookAtNode(url, place + 1, input)));
    return observations.flat();
  },
};

/** Undefined when no node does, which `chain` tells. */
async function firstThatAnswers({ cwd, nodes }: DoctorInput): Promise<ChainClient | undefined> {
  for (const url of (await readSecret(startSettings.rpcUrls, { cwd, secret: nodes })) ?? []) {
    const chain = createChainClient(createRpc({ url, ...settings.rpc }));
    const block = await chain.block('latest').catch(() => undefined);
    if (block) return chain;
  }
  return undefined;
}

const SIGNING: readonly SigningAccount[] = ['payout', 'mint', 'redemption', 'relay'];

/** The accounts of the keys that the settings give. A key that cannot be read is what a start refuses. */
async function accountsGiven({ cwd, env }: DoctorInput) {
  const given: { name: SigningAccount; address: `0x${string}` }[] = [];
  for (const name of SIGNING) {
    const row = startSettings[`${name}Key`];
    const { variable, optionVariable } = namesOf(row);
    const file = env[optionVariable];
    const secret = { files: file === undefined ? [] : [file], value: env[variable] };
    const key = await readSecret(row, { cwd, secret }).catch(() => undefined);
    if (key !== undefined) given.push({ name, address: localKeySigner(key).address });
  }
  return given;
}

/** The newest block may be this old: a few blocks' time, plus the difference of two clocks. */
const SKEW_MAX_MS = 120_000;

async function lookAtNode(url: string, place: number, input: DoctorInput): Promise<Observation[]> {
  const check = 'chain';
  const chain = createChainClient(createRpc({ url, ...settings.rpc }));
  try {
    const [chainId, block] = [await chain.chainId(), await chain.block('latest')];
    const fee = `base fee ${Number(block?.baseFeeWei ?? 0n) / 1e9} gwei`;
    const found: Observation[] = [
      { check, message: `node ${place}: chain ${chainId}, block ${block?.number}, ${fee}` },
    ];
    const ageMs = input.nowMs() - (block?.timestampSeconds ?? 0) * 1000;
    if (Math.abs(ageMs) > SKEW_MAX_MS) {
      const message = `node ${place}: its newest block is ${Math.round(ageMs / 1000)} s old by this machine's clock`;
      found.push({ check, message, fix: 'let the node catch up, or set the clock' });
    }
    const wanted = input.env.REWARDS_CHAIN_ID;
    if (wanted && Number(wanted) !== chainId) {
      const message = `node ${place} is of chain ${chainId}, REWARDS_CHAIN_ID says ${wanted}`;
      found.push({ check, message, fix: 'use a node of the right chain' });
    }
    return found;
  } catch (error) {
    return [
      { check, message: `node ${place}: ${firstLine(error)}`, fix: 'check its address and the network' },
    ];
  }
}

/** Whether the service of this container is ready: production by its admin listener, else the stack that runs here. */
export async function isHealthy(of: {
  cwd: string;
  /** Where production's admin listener is. */
  bindAddress: string;
  port: number;
}): Promise<{ healthy: boolean; message: string }> {
  const { run } = await findRunFile(of.cwd);
  const address = of.bindAddress === '0.0.0.0' ? '127.0.0.1' : of.bindAddress;
  const url = run
    ? `${run.urls.events}${settings.apiPrefix}/health`
    : `http://${address.includes(':') ? `[${address}]` : address}:${of.port}/readyz`;
  const status = await statusOf(url);
  return { healthy: status === 200, message: `${url} ${status ? `answers ${status}` : 'does not answer'}` };
}

const HEALTH_TIMEOUT_MS = 3_000;

/** What the stack says of itself: `healthy` or `degraded`. A stack without its node answers as well, with 200. */
async function healthOf(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    const { status } = (await answer.json()) as { status?: unknown };
    return String(status ?? answer.status);
  } catch {
    return undefined;
  }
}

async function statusOf(url: string): Promise<number | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return undefined;
  }
}

const firstLine = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';

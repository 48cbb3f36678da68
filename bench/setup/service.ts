/** The service as an operator of one machine would start it, on a chain of our own, and the check that it has lost or doubled nothing. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { HDKey } from '@scure/bip32';
import { generatePrivateKey } from 'viem/accounts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { type Brand, CHAIN_ID, type Chain, prepareService } from './chain.ts';
import { environmentWith, program, startProgram } from './processes.ts';

export interface ServicePlan {
  folder: string;
  brands: Brand[];
  identity: Record<string, string>;
  /** An empty database of Postgres; without one the ledger is a SQLite file in `folder`. */
  postgres?: string;
  /** How many processes share that database. */
  processes?: number;
  profile?: string | undefined;
}

/** Prepares chain and ledger and starts one process, or several on Postgres. */
export async function startMeasuredService(chain: Chain, plan: ServicePlan) {
  const { folder, brands, identity, postgres, processes = 1, profile } = plan;
  const file = join(folder, 'ledger.sqlite');
  const database = postgres ? openPostgres(postgres) : openSqlite(file);
  const { keys, contracts, deploymentBlock } = await prepareService(chain, database, brands);
  const seed = Buffer.from(generatePrivateKey().slice(2), 'hex');
  const env = {
    REWARDS_DATABASE_URL: postgres ?? `sqlite:${file}`,
    REWARDS_ALLOW_SQLITE: String(!postgres),
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
    // A node of one's own with blocks of a second may be asked often.
    REWARDS_CONFIRMATIONS: '1',
    // How soon it pays after a start is not measured.
    REWARDS_FIRST_BLOCK_WAIT: '0s',
    REWARDS_BLOCK_POLL: '100ms',
    // It keeps many transactions of one account: with 64, answers at half load wait 20 ms for the next place.
    REWARDS_IN_FLIGHT_MAX: '256',
    REWARDS_GAS_BUDGET: '1000000',
    // Once an hour it compares ledger and chain, and 45 s after a start: some round of seconds would have that in it.
    REWARDS_VERIFY_EVERY: '0s',
    REWARDS_EXPLORER_URL: 'https://explorer.example',
    ...identity,
  };
  const start = () =>
    startProgram(['start', '--log-level', 'warn'], { env: { ...env }, cwd: folder, profile });
  const started = [await start()];
  while (started.length < processes) started.push(await start());
  const stop = async () => {
    for (const one of started.splice(0)) await one.stop();
  };
  const [first] = started as [Awaited<ReturnType<typeof start>>];
  return {
    urls: started.map(({ url }) => url),
    pids: started.map(({ pid }) => pid),
    url: first.url,
    pid: first.pid,
    contracts,
    stop,
    /** Ends the service, and throws when ledger and chain differ in anything. */
    async stopAndVerify() {
      await stop();
      return verified({ env, cwd: folder });
    },
  };
}

export type MeasuredService = Awaited<ReturnType<typeof startMeasuredService>>;

/** A comparison of ledger and chain that found no difference; throws at the first one: no rate is worth a reward. */
export async function verified({ env, cwd }: { env: Record<string, string>; cwd: string }): Promise<number> {
  const answer = await promisify(execFile)(process.execPath, [program(), 'verify', '-o', 'json'], {
    env: environmentWith(env),
    cwd,
    maxBuffer: 2 ** 26,
  }).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; message: string }) => error.stdout || JSON.stringify({ error: error.message }),
  );
  const { data, error } = JSON.parse(answer) as {
    data?: { differences: unknown[]; checked: { rewards: number } };
    error?: unknown;
  };
  if (!data || error || data.differences.length > 0)
    throw new Error(`ledger and chain: ${JSON.stringify(data?.differences.slice(0, 5) ?? error)}`);
  return data.checked.rewards;
}

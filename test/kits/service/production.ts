/** What production needs around it: a chain that is no development chain, contracts, keys that nobody knows, a database. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { HDKey } from '@scure/bip32';
import { createPublicClient, createWalletClient, type Hex, http, keccak256, parseEther, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterEach, expect } from 'vitest';
import { rewardTokenAbi } from '../../../src/chain/contracts/abis.ts';
import { roleId } from '../../../src/chain/contracts/deployment-steps.ts';
import { saveBrand, saveEventRule } from '../../../src/ledger/brands/brands.ts';
import type { Database } from '../../../src/ledger/database/database.ts';
import { migrate } from '../../../src/ledger/database/migrate.ts';
import { openSqlite } from '../../../src/ledger/database/sqlite.ts';
import { recordMint } from '../../../src/ledger/payments/mints.ts';
import { deploy, fundEscrow, rpcTo, startAnvil } from '../chain/chain.ts';
import { devAccount } from '../chain/dev-accounts.ts';
import { program, rewardsJson } from './cli.ts';

export const CHAIN_ID = 4242;
export const brandId: Hex = `0x${'b1'.repeat(20)}`;

/** What the brand has in escrow from the start; the ledger knows why. */
const opening = { key: keccak256(toHex('opening deposit of the production kit')), amount: 1_000_000 };

export type ProductionKit = Awaited<ReturnType<typeof startProductionKit>>;

/** Anvil with contracts of our own accounts, and a folder for secrets. */
export async function startProductionKit(anvilArgs: readonly string[] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'rewards-production-'));
  const anvil = await startAnvil(['--chain-id', String(CHAIN_ID), ...anvilArgs]);
  const rpc = rpcTo(anvil.url);
  const keys = {
    admin: generatePrivateKey(),
    payout: generatePrivateKey(),
    mint: generatePrivateKey(),
    relay: generatePrivateKey(),
    redemption: generatePrivateKey(),
  };
  const accounts = {
    admin: privateKeyToAccount(keys.admin),
    payout: privateKeyToAccount(keys.payout),
    mint: privateKeyToAccount(keys.mint),
    relay: privateKeyToAccount(keys.relay),
    redemption: privateKeyToAccount(keys.redemption),
  };
  for (const { address } of Object.values(accounts))
    await rpc('anvil_setBalance', [address, toHex(parseEther('1000'))]);
  const contracts = await deploy(rpc, {
    admin: accounts.admin,
    distributor: accounts.payout.address,
    operator: accounts.mint.address,
    redeemer: accounts.redemption.address,
    relayer: accounts.relay.address,
  });
  const walletsXpub = HDKey.fromMasterSeed(Buffer.from(generatePrivateKey().slice(2), 'hex')).derive(
    "m/44'/60'/0'/0",
  ).publicExtendedKey;
  const transport = http(anvil.url);
  // Tests configure perks as the admin, too.
  await createWalletClient({ transport, account: accounts.admin }).writeContract({
    address: contracts.perks,
    abi: rewardTokenAbi,
    functionName: 'grantRole',
    chain: null,
    args: [roleId('PERK_ADMIN_ROLE'), accounts.admin.address],
  });
  await fundEscrow(
    {
      wallet: createWalletClient({ transport }),
      client: createPublicClient({ transport, pollingInterval: 20 }),
      pointsSale: contracts.pointsSale,
    },
    accounts.mint,
    { brand: brandId, amount: BigInt(opening.amount), key: opening.key },
  );
  let files = 0;

  return {
    folder,
    anvil,
    rpc,
    keys,
    accounts,
    contracts,
    walletsXpub,
    /** A file with these lines, readable by its owner unless said otherwise. */
    async secretFile(text: string, mode = 0o400) {
      const path = join(folder, `secret-${files++}`);
      await writeFile(path, `${text}\n`);
      await chmod(path, mode);
      return path;
    },
    /** The environment of a start that nothing is wrong with; `change` sets and, with undefined, removes. */
    environment(
      databaseUrl: string,
      change: Record<string, string | undefined> = {},
    ): Record<string, string> {
      const all: Record<string, string | undefined> = {
        REWARDS_DATABASE_URL: databaseUrl,
        REWARDS_RPC_URL: `${anvil.url},${anvil.url}/?again`,
        REWARDS_CHAIN_ID: String(CHAIN_ID),
        REWARDS_TOKEN_ADDRESS: contracts.token,
        REWARDS_ESCROW_ADDRESS: contracts.escrow,
        REWARDS_PERKS_ADDRESS: contracts.perks,
        REWARDS_POINTS_SALE_ADDRESS: contracts.pointsSale,
        REWARDS_DEPLOYMENT_BLOCK: String(contracts.block),
        REWARDS_PAYOUT_KEY: keys.payout,
        REWARDS_MINT_KEY: keys.mint,
        REWARDS_RELAY_KEY: keys.relay,
        REWARDS_REDEMPTION_KEY: keys.redemption,
        REWARDS_WALLETS_XPUB: walletsXpub,
        REWARDS_PUBLIC_HOST: 'rewards.example',
        REWARDS_TRUST_PROXY: '127.0.0.1',
        REWARDS_PORT: '0',
        REWARDS_ADMIN_PORT: '0',
        REWARDS_CONFIRMATIONS: '1',
        REWARDS_BLOCK_POLL: '50ms',
        REWARDS_CHECK_EVERY: '200ms',
        REWARDS_START_WAIT: '0s',
        // This chain makes blocks on demand.
        REWARDS_FIRST_BLOCK_WAIT: '0s',
        ...change,
      };
      return Object.fromEntries(
        Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
      );
    },
    async stop() {
      await anvil.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Migrates a ledger and writes one brand into it, with an event that anybody may claim again and again. */
export async function prepareLedger(database: Database): Promise<void> {
  await migrate(database);
  await saveBrand(database.db, {
    brandId,
    name: 'Shop',
    automation: true,
    profile: { domains: ['shop.example'], platforms: {}, clientBypass: 'credential', mintTo: 'escrow' },
    verificationSecret: 'secret',
    createdAt: 0,
  });
  const deposit = { ...opening, kind: 'sale', recipient: brandId, reason: 'opening deposit' } as const;
  await recordMint(database.db, { ...deposit, createdAt: 0 });
  await saveEventRule(database.db, {
    brandId,
    eventType: 'form_submit',
    position: 0,
    active: true,
    rewardAmount: 5,
    maxClaims: -1,
    maxTotalClaims: -1,
    cooldownMs: 0,
    detail: { eventId: 'form_submit', isCustom: false, detectionMethod: 'form', detectionConfig: {} },
  });
}

/** A SQLite ledger in a folder of its own; closed again, since one process owns it. */
export async function sqliteLedger(folder: string, name: string): Promise<string> {
  const dir = await mkdtemp(join(folder, `${name}-`));
  const path = join(dir, 'ledger.sqlite');
  const database = openSqlite(path);
  await prepareLedger(database);
  await database.close();
  return `sqlite:${path}`;
}

/** The first account that Anvil's own mnemonic gives. */
export const wellKnownKey: Hex = toHex(devAccount().getHdKey().privateKey ?? new Uint8Array());

/** `rewards start` as a process of its own, once it is ready. */
export type Started = Awaited<ReturnType<typeof startProduction>>;

/** Throws with its log when it ends before it is ready. */
export async function startProduction(
  env: Record<string, string>,
  args: string[] = [],
  { onLog }: { onLog?: (text: string) => void } = {},
) {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('REWARDS_'));
  const child = spawn(process.execPath, [program, 'start', '-o', 'json', ...args], {
    cwd: '/',
    env: { ...Object.fromEntries(kept), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
    onLog?.(String(chunk));
  });
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const reader = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(reader, 'line').then(([text]) => String(text)),
    closed.then(([code]) => `it ended with ${code}: ${log}`),
  ]);
  const parsed = line.startsWith('{') ? JSON.parse(line) : undefined;
  if (parsed?.type !== 'ready') throw new Error(`not ready: ${line}`);
  const ready: { urls: { events?: string; admin: string }; workers: string[] } = parsed;

  const request = async (url: string, init: RequestInit = {}) => {
    const response = await fetch(url, init);
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: tests look at bodies field by field
    const body: any = text.startsWith('{') ? JSON.parse(text) : text;
    return { status: response.status, headers: response.headers, body };
  };
  return {
    ready,
    child,
    log: () => log,
    logLines: () =>
      log
        .split('\n')
        .filter(Boolean)
        .map((text) => JSON.parse(text)),
    admin: (path: string) => request(ready.urls.admin + path),
    api: (path: string, init?: RequestInit) => request(`${ready.urls.events}/rewards-api${path}`, init),
    /** One event of the kit's brand, as a proxy would pass it on. */
    event: (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
      request(`${ready.urls.events}/rewards-api/manual-event`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-proto': 'https', ...headers },
        body: JSON.stringify({ eventType: 'form_submit', domain: 'shop.example', ...body }),
      }),
    /** The value of one metric, by its name with labels; undefined when it is not there. */
    async metric(name: string): Promise<number | undefined> {
      const { body } = await request(`${ready.urls.admin}/metrics`);
      const found = String(body)
        .split('\n')
        .find((text) => text.startsWith(`${name} `));
      return found === undefined ? undefined : Number(found.slice(name.length + 1));
    },
    /** How many transactions for `purpose` the service knows of no block for: sent, or about to be. */
    async inNoBlock(purpose: string): Promise<number> {
      const { body } = await request(`${ready.urls.admin}/metrics`);
      const open = new RegExp(
        `^rewards_transactions_open\\{purpose="${purpose}",status="(?:stored|sent)"\\} (.+)$`,
        'gm',
      );
      return [...String(body).matchAll(open)].reduce((sum, [, count]) => sum + Number(count), 0);
    },
    /** Waits for an end that was asked for before. */
    async ended() {
      const [code, by] = await closed;
      return { code, signal: by };
    },
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal);
      const [code, by] = await closed;
      return { code, signal: by };
    },
  };
}

/**
 * What the tests of a file do with ledgers of `kit`, SQLite or Postgres. After each test the processes that still run are
 * killed, before hooks that were registered earlier.
 */
export function productionOf(kit: () => ProductionKit) {
  const started: Started[] = [];
  afterEach(async () => {
    for (const one of started.splice(0)) if (one.child.exitCode === null) await one.stop('SIGKILL');
  });
  type Change = Record<string, string | undefined>;
  const environment = (ledger: string, change: Change = {}) =>
    kit().environment(ledger, { REWARDS_ALLOW_SQLITE: 'true', ...change });
  return {
    async start(ledger: string, change: Change = {}, args: string[] = []): Promise<Started> {
      const one = await startProduction(environment(ledger, change), args);
      started.push(one);
      return one;
    },
    /** `rewards start`, which is refused; `--check` does not start even when it is not. */
    async refused(ledger: string, change: Change = {}, args = ['--check']) {
      const { envelope, code } = await rewardsJson(['start', ...args], { env: environment(ledger, change) });
      return { code, error: envelope.error };
    },
    /** Expects that ledger and chain agree; gives what was compared. */
    async agrees(ledger: string, change: Change = {}) {
      const { code, envelope } = await rewardsJson(['verify'], { env: environment(ledger, change) });
      expect(envelope.data?.differences ?? envelope.error).toEqual([]);
      expect([code, envelope.data.ok]).toEqual([0, true]);
      return envelope.data.checked;
    },
  };
}

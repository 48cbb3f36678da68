/** What production needs around it: a chain that is no development chain, contracts, keys that nobody knows, a database. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HDKey } from '@scure/bip32';
import { createWalletClient, type Hex, http, keccak256, parseEther, toHex } from 'viem';
import { generatePrivateKey, mnemonicToAccount, privateKeyToAccount } from 'viem/accounts';
import { pointsSaleAbi } from '../../src/chain/contracts/abis.ts';
import { type Deployment, deployContracts } from '../../src/chain/contracts/deploy.ts';
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts';
import { DEV_MNEMONIC } from '../../src/emulator/world/dev-accounts.ts';
import { saveBrand, saveEventRule } from '../../src/ledger/brands/brands.ts';
import type { Database } from '../../src/ledger/database/database.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { delay } from '../../src/lib/timers.ts';
import { startAnvil } from '../kits/anvil-process.ts';

export const CHAIN_ID = 4242;
export const brandId: Hex = `0x${'b1'.repeat(20)}`;

export type ProductionKit = Awaited<ReturnType<typeof startProductionKit>>;

/** Anvil with contracts of our own accounts, and a folder for secrets. */
export async function startProductionKit() {
  const folder = await mkdtemp(join(tmpdir(), 'rewards-production-'));
  const anvil = await startAnvil(['--chain-id', String(CHAIN_ID)]);
  const rpc = createRpc({ url: anvil.url, timeoutMs: 10_000 });
  const keys = {
    admin: generatePrivateKey(),
    payout: generatePrivateKey(),
    mint: generatePrivateKey(),
    relay: generatePrivateKey(),
  };
  const accounts = {
    admin: privateKeyToAccount(keys.admin),
    payout: privateKeyToAccount(keys.payout),
    mint: privateKeyToAccount(keys.mint),
    relay: privateKeyToAccount(keys.relay),
  };
  for (const { address } of Object.values(accounts))
    await rpc('anvil_setBalance', [address, toHex(parseEther('1000'))]);
  const contracts = await deployContracts(
    { rpc, sleep: delay },
    {
      admin: accounts.admin,
      distributor: accounts.payout.address,
      operator: accounts.mint.address,
      redeemer: accounts.admin.address,
      perkAdmin: accounts.admin.address,
      relayers: [accounts.relay.address],
    },
  );
  const walletsXpub = HDKey.fromMasterSeed(Buffer.from(generatePrivateKey().slice(2), 'hex')).derive(
    "m/44'/60'/0'/0",
  ).publicExtendedKey;
  await fundBrand({ url: anvil.url, rpc, contracts, mint: accounts.mint });
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
        REWARDS_WALLETS_XPUB: walletsXpub,
        REWARDS_PUBLIC_HOST: 'rewards.example',
        REWARDS_TRUST_PROXY: '127.0.0.1',
        REWARDS_PORT: '0',
        REWARDS_ADMIN_PORT: '0',
        REWARDS_CONFIRMATIONS: '1',
        REWARDS_BLOCK_POLL: '50ms',
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

async function fundBrand(of: {
  url: string;
  rpc: Rpc;
  contracts: Deployment;
  mint: ReturnType<typeof privateKeyToAccount>;
}): Promise<void> {
  const wallet = createWalletClient({ transport: http(of.url), account: of.mint });
  const hash = await wallet.writeContract({
    chain: null,
    address: of.contracts.pointsSale,
    abi: pointsSaleAbi,
    functionName: 'mintIntoEscrow',
    args: [keccak256(toHex('opening deposit')), brandId, 1_000_000n],
  });
  for (let tries = 0; tries < 100; tries++) {
    if (await of.rpc('eth_getTransactionReceipt', [hash])) return;
    await delay(50);
  }
  throw new Error('the deposit was not mined');
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
export const wellKnownKey: Hex = toHex(
  mnemonicToAccount(DEV_MNEMONIC).getHdKey().privateKey ?? new Uint8Array(),
);

/** A chain for the service with contracts, brands and gas wallets, and one for the baseline of raw transactions. */
import { encodeFunctionData, type Hex, hexToNumber, numberToHex, parseEther, toHex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { businessEscrowAbi, rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import { perkTermsData } from '../../src/chain/contracts/calls/perk-calls.ts';
import type { ContractAddresses } from '../../src/chain/contracts/deployment-steps.ts';
import { startAnvil } from '../../src/chain/development/anvil.ts';
import { openGasWallet } from '../../src/chain/development/open-gas-wallet.ts';
import { fundBrands, prepareContracts, sendAsAdmin } from '../../src/chain/development/prepare-chain.ts';
import { keysDerivedFrom, localKeySigner } from '../../src/chain/lane/local-key.ts';
import { createChainClient } from '../../src/chain/rpc/client.ts';
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts';
import { settings } from '../../src/compose/config.ts';
import { saveBrand, saveEventRule } from '../../src/ledger/brands/brands.ts';
import type { Database } from '../../src/ledger/database/database.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { systemClock } from '../../src/lib/clock.ts';

export const CHAIN_ID = 4242;
const BLOCK_SECONDS = 1;
export const REWARD = 5;
/** RWT of each brand: more than any run pays. */
const DEPOSIT = 1_000_000_000_000;
/** The perk of a brand that the relay's users take; it costs nothing, and the brand pays the gas. */
export const perkOfBrand = (place: number) => place + 1;

export interface Brand {
  brandId: Hex;
  domain: string;
}

/** Each has a gas wallet of its own, and so a lane. */
export const brandsOf = (count: number): Brand[] =>
  Array.from({ length: count }, (_, index) => ({
    brandId: numberToHex(0xb0 + index, { size: 20 }),
    domain: `shop-${index}.example`,
  }));

/** Anvil with blocks of a second, and an RPC client for it. */
export async function startChain() {
  const anvil = await startAnvil({
    bindAddress: '127.0.0.1',
    port: 0,
    blockTimeSeconds: BLOCK_SECONDS,
    chainId: CHAIN_ID,
  });
  const rpc = createRpc({ url: anvil.rpcUrl, ...settings.rpc, timeoutMs: 30_000 });
  return { url: anvil.rpcUrl, pid: anvil.pid ?? 0, rpc, stop: () => anvil.stop() };
}

export type Chain = Awaited<ReturnType<typeof startChain>>;

async function deploy(chain: Chain, database: Database) {
  const { rpc } = chain;
  await migrate(database);
  const keys = {
    admin: generatePrivateKey(),
    payout: generatePrivateKey(),
    mint: generatePrivateKey(),
    relay: generatePrivateKey(),
  };
  const addresses = Object.values(keys).map((key) => localKeySigner(key).address);
  for (const address of addresses) await giveMoney(rpc, address);
  const [admin, payout, mint, relay] = addresses as [Hex, Hex, Hex, Hex];
  const preparation = {
    database,
    rpc,
    chain: createChainClient(rpc),
    admin: localKeySigner(keys.admin),
    accounts: { distributor: payout, operator: mint, redeemer: admin, relayers: [relay] },
  };
  return { keys, preparation, facts: await prepareContracts(preparation) };
}

const giveMoney = (rpc: Rpc, address: Hex) =>
  rpc('anvil_setBalance', [address, toHex(parseEther('1000000'))]);

/** Deploys the contracts, writes the brands into an empty ledger, and gives each tokens, a gas wallet and one perk. Closes the ledger. */
export async function prepareService(chain: Chain, database: Database, brands: Brand[]) {
  const { rpc } = chain;
  const { keys, preparation, facts } = await deploy(chain, database);
  try {
    for (const brand of brands) await writeBrand(database, brand);
    await fundBrands(
      { ...preparation, clock: systemClock() },
      facts.contracts.pointsSale,
      brands.map(({ brandId }) => ({ brandId, amount: DEPOSIT })),
    );
    const grown = keysDerivedFrom(keys.relay);
    const { perks } = facts.contracts;
    const opening = { ...preparation, keys: grown };
    for (const { brandId } of brands) await openGasWallet(opening, { brandId, perks, nowMs: Date.now() });
    for (const [index] of brands.entries()) await giveMoney(rpc, grown(index).address);
    const terms = { kind: 'set', price: 0, stock: -1, active: true } as const;
    const onSale = brands.map(({ brandId }, place) => ({
      to: perks,
      data: perkTermsData({ ...terms, brandId, tokenId: perkOfBrand(place) }),
    }));
    await sendAsAdmin(preparation, onSale);
  } finally {
    await database.close();
  }
  return { keys, contracts: facts.contracts, deploymentBlock: facts.deploymentBlock };
}

async function writeBrand(database: Database, { brandId, domain }: Brand) {
  await saveBrand(database.db, {
    brandId,
    name: domain,
    automation: true,
    profile: { domains: [domain], platforms: {}, clientBypass: 'credential', mintTo: 'escrow' },
    verificationSecret: 'secret',
    createdAt: Date.now(),
  });
  await saveEventRule(database.db, {
    brandId,
    eventType: 'form_submit',
    position: 0,
    active: true,
    rewardAmount: REWARD,
    maxClaims: -1,
    maxTotalClaims: -1,
    cooldownMs: 0,
    detail: { eventId: 'form_submit', isCustom: false, detectionMethod: 'form', detectionConfig: {} },
  });
}

/** How many rewards the escrow has paid, as the chain says. */
export async function rewardsPaid(
  rpc: Rpc,
  { contracts, brands }: { contracts: Pick<ContractAddresses, 'escrow'>; brands: Pick<Brand, 'brandId'>[] },
): Promise<number> {
  let paid = 0;
  for (const { brandId } of brands) {
    const data = encodeFunctionData({ abi: businessEscrowAbi, functionName: 'balanceOf', args: [brandId] });
    const left = (await rpc('eth_call', [{ to: contracts.escrow, data }, 'latest'])) as Hex;
    paid += (DEPOSIT - Number(BigInt(left))) / REWARD;
  }
  return paid;
}

/**
 * What callers send in the baseline of raw transactions, in the generator's order: `each` transfers of a token to new
 * holders for every caller, signed ahead.
 */
export async function signTransfers(
  chain: Chain,
  { callers, each }: { callers: number; each: number },
): Promise<{ body: string }[]> {
  const database = openSqlite(':memory:');
  const { facts } = await deploy(chain, database);
  await database.close();
  const { token } = facts.contracts;
  const signers = Array.from({ length: callers }, () => localKeySigner(generatePrivateKey()));
  for (const { address } of signers) {
    await giveMoney(chain.rpc, address);
    await chain.rpc('anvil_dealERC20', [address, token, numberToHex(each)]);
  }
  const requests: { body: string }[] = [];
  for (let nonce = 0; nonce < each; nonce++) {
    for (const [caller, signer] of signers.entries()) {
      const holder = numberToHex((1n << 100n) + BigInt(nonce * callers + caller), { size: 20 });
      const data = encodeFunctionData({ abi: rewardTokenAbi, functionName: 'transfer', args: [holder, 1n] });
      const raw = await signer.signTransaction({
        type: 'eip1559',
        chainId: CHAIN_ID,
        nonce,
        to: token,
        data,
        value: 0n,
        gas: 100_000n,
        maxFeePerGas: 10n ** 11n,
        maxPriorityFeePerGas: 10n ** 9n,
      });
      requests.push({ body: rpcBody(raw) });
    }
  }
  return requests;
}

const rpcBody = (raw: Hex) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: [raw] });

export const blockNumber = async (rpc: Rpc) => hexToNumber((await rpc('eth_blockNumber', [])) as Hex);

/** How many transactions the blocks above `block` have. */
export async function transactionsSince(rpc: Rpc, block: number): Promise<number> {
  const newest = await blockNumber(rpc);
  let count = 0;
  for (let number = block + 1; number <= newest; number++) {
    const { transactions } = (await rpc('eth_getBlockByNumber', [numberToHex(number), false])) as {
      transactions: Hex[];
    };
    count += transactions.length;
  }
  return count;
}

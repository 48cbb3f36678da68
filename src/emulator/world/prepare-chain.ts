/** Prepares a development chain: deploys the contracts once, and funds the demo brands once. */
import { type Address, encodeFunctionData, type Hex, keccak256, stringToHex } from 'viem';
import { pointsSaleAbi } from '../../chain/contracts/abis.ts';
import {
  contractProblemText,
  contractsAt,
  type DeploySigner,
  deployContracts,
} from '../../chain/contracts/deploy.ts';
import { roleId } from '../../chain/contracts/deployment-steps.ts';
import { readContract } from '../../chain/contracts/read-contract.ts';
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import { PreconditionError } from '../../compose/precondition.ts';
import type { Database } from '../../ledger/database/database.ts';
import { type Facts, readFact, writeFact } from '../../ledger/facts.ts';
import { recordMint } from '../../ledger/payments/operator-mints.ts';
import { leaseLane, releaseLane } from '../../ledger/transactions/lanes.ts';
import type { Clock } from '../../lib/clock.ts';
import { delay } from '../../lib/timers.ts';

/** The chain is not the one that this ledger was written for. */
const chainChanged = (difference: string) =>
  new PreconditionError({
    code: 'E_CHAIN_CHANGED',
    message: `This data was written for another chain: ${difference}`,
    fix: 'Use --ephemeral, or another folder with --persist-to, or the node that the data belongs to.',
  });

export interface PrepareChainDeps {
  database: Database;
  rpc: Rpc;
  chain: ChainClient;
  admin: DeploySigner;
  accounts: { distributor: Address; operator: Address; redeemer: Address; relayers: Address[] };
}

/** Longer than any work under the lease; after it, another process takes over from one that died. */
const SETUP_LEASE_MS = 60_000;
const SETUP_POLL_MS = 50;

/**
 * Runs `work` while no other process on this ledger sets the chain up, since only one process at a time may send
 * from the admin's account.
 */
export async function aloneInSetup<T>(
  deps: Pick<PrepareChainDeps, 'database' | 'admin'> & { owner: string },
  work: () => Promise<T>,
): Promise<T> {
  const { owner } = deps;
  const { db } = deps.database;
  const address = deps.admin.address;
  const lease = () =>
    leaseLane(db, { address, purpose: 'setup', owner, now: deps.database.now, forMs: SETUP_LEASE_MS });
  while ((await lease()) === undefined) await delay(SETUP_POLL_MS);
  try {
    return await work();
  } finally {
    await releaseLane(db, { address, owner });
  }
}

/** Deploys the contracts, or finds them at the addresses in the ledger. */
export async function prepareContracts(deps: PrepareChainDeps): Promise<Facts['chain']> {
  const { database, rpc, chain } = deps;
  const chainId = await chain.chainId();
  const genesis = await chain.block(0);
  if (!genesis) throw chainChanged('the node does not have its first block');
  const known = await readFact(database.db, 'chain');
  if (known) {
    const same = known.chainId === chainId && known.genesisHash === genesis.hash;
    const problems = same ? await contractsAt({ rpc }, known.contracts) : [];
    if (same && problems.length === 0) return known;
    throw chainChanged(
      same
        ? `the contracts are not as this ledger left them: ${problems.map(({ contract, problem }) => `${contract}: ${contractProblemText(problem)}`).join('; ')}`
        : `the ledger belongs to chain ${known.chainId} with first block ${known.genesisHash}, the node has chain ${chainId} with ${genesis.hash}`,
    );
  }
  const { block, ...contracts } = await deployContracts(
    { rpc, sleep: (ms) => delay(ms) },
    { ...deps.accounts, admin: deps.admin, perkAdmin: deps.admin.address },
  );
  const grant = (role: string, account: Address) =>
    encodeFunctionData({ abi: pointsSaleAbi, functionName: 'grantRole', args: [roleId(role), account] });
  await sendAsAdmin(deps, [
    { to: contracts.pointsSale, data: grant('OPERATOR_ROLE', deps.admin.address) },
    // As in production, the account that redeems perks configures them too.
    { to: contracts.perks, data: grant('PERK_ADMIN_ROLE', deps.accounts.redeemer) },
  ]);
  const facts: Facts['chain'] = {
    chainId,
    genesisHash: genesis.hash,
    deploymentBlock: Number(block),
    contracts,
  };
  await writeFact(database.db, 'chain', facts);
  return facts;
}

/** Mints each brand's opening deposit into its escrow, once: the contract records the key of each mint. */
export async function fundBrands(
  deps: PrepareChainDeps & { clock: Clock },
  pointsSale: Address,
  deposits: { brandId: Address; amount: number }[],
): Promise<void> {
  const calls: SetupCall[] = [];
  for (const { brandId, amount } of deposits) {
    if (amount <= 0) continue;
    const key = keccak256(stringToHex(`opening deposit of ${brandId}`));
    const mint = { key, kind: 'sale', recipient: brandId, amount, reason: 'opening deposit' } as const;
    await recordMint(deps.database.db, { ...mint, createdAt: deps.clock.now() });
    const isMinted = { functionName: 'isMinted', args: [key] } as const;
    if (await readContract(deps.rpc, { address: pointsSale, abi: pointsSaleAbi, ...isMinted })) continue;
    const args = [key, brandId, BigInt(amount)] as const;
    const data = encodeFunctionData({ abi: pointsSaleAbi, functionName: 'mintIntoEscrow', args });
    calls.push({ to: pointsSale, data });
  }
  await sendAsAdmin(deps, calls);
}

const ADMIN_GAS = 500_000n;
const RECEIPT_POLL_MS = 25;
const RECEIPT_TIMEOUT_MS = 60_000;

/** One call of the admin's account. */
export interface SetupCall {
  to: Address;
  data?: Hex;
  value?: bigint;
}

/**
 * Sends set-up calls and then waits for their blocks, so that they share a block when the chain has a block time. Never
 * for money that a user is owed, since these calls do not survive a crash.
 */
export async function sendAsAdmin(deps: PrepareChainDeps, calls: SetupCall[]): Promise<void> {
  const { chain, admin, rpc } = deps;
  const [latest, chainId, firstNonce] = await Promise.all([
    chain.block('latest'),
    chain.chainId(),
    chain.nonce(admin.address),
  ]);
  const priorityFeeWei = 10n ** 9n;
  const hashes: unknown[] = [];
  for (const [place, call] of calls.entries()) {
    const raw = await admin.signTransaction({
      type: 'eip1559',
      chainId,
      nonce: firstNonce + place,
      value: 0n,
      gas: ADMIN_GAS,
      maxFeePerGas: (latest?.baseFeeWei ?? 0n) * 2n + priorityFeeWei,
      maxPriorityFeePerGas: priorityFeeWei,
      ...call,
    });
    hashes.push(await rpc('eth_sendRawTransaction', [raw]));
  }
  for (const hash of hashes) await mined(deps, hash);
}

async function mined({ rpc }: PrepareChainDeps, hash: unknown): Promise<void> {
  for (let waitedMs = 0; waitedMs < RECEIPT_TIMEOUT_MS; waitedMs += RECEIPT_POLL_MS) {
    const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as { status: Hex } | null;
    if (receipt?.status === '0x1') return;
    if (receipt) throw new Error(`the set-up transaction ${hash} was reverted`);
    await delay(RECEIPT_POLL_MS);
  }
  throw new Error(`the set-up transaction ${hash} was not mined within ${RECEIPT_TIMEOUT_MS / 1000} s`);
}

/** Prepares a development chain: deploys the contracts once, and funds the demo brands once. */
import { type Address, encodeFunctionData, type Hex, keccak256, stringToHex } from 'viem';
import { lastPosition } from '../../ledger/consumers/feed.ts';
import type { Database } from '../../ledger/database/database.ts';
import { type Facts, readFact, writeFact } from '../../ledger/facts.ts';
import { recordMint } from '../../ledger/payments/mints.ts';
import { noteBlock } from '../../ledger/transactions/followed-blocks.ts';
import { leaseLane, releaseLane } from '../../ledger/transactions/lanes.ts';
import type { Clock } from '../../lib/clock.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import { delay } from '../../lib/timers.ts';
import { pointsSaleAbi } from '../contracts/abis.ts';
import {
  contractProblemText,
  contractsAt,
  type DeploySigner,
  deployContracts,
  sendUntilMined,
} from '../contracts/deploy.ts';
import { roleCalls } from '../contracts/deployment-steps.ts';
import { readContract } from '../contracts/read-contract.ts';
import type { ChainClient } from '../rpc/client.ts';
import type { Rpc } from '../rpc/rpc.ts';

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

/** RWT an hour that may be collected without the holders' allowance: nothing is at stake here, and load tests redeem a lot. */
const REDEMPTION_CAP = 10n ** 12n;

/** Deploys the contracts, or finds them at the addresses in the ledger. */
export async function prepareContracts(deps: PrepareChainDeps): Promise<Facts['chain']> {
  const { database, rpc, chain } = deps;
  const [chainId, genesis] = await Promise.all([chain.chainId(), chain.block(0)]);
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
    {
      redemptionCap: REDEMPTION_CAP,
      alsoCalls: ({ pointsSale, perks }) => [
        roleCalls('pointsSale', pointsSale).grant('OPERATOR_ROLE', deps.admin.address),
        // As in production, the account that redeems perks configures them too.
        roleCalls('perks', perks).grant('PERK_ADMIN_ROLE', deps.accounts.redeemer),
      ],
    },
  );
  const facts: Facts['chain'] = {
    chainId,
    genesisHash: genesis.hash,
    deploymentBlock: Number(block),
    contracts,
  };
  await writeFact(database.db, 'chain', facts);
  // The contracts cannot have been used yet, so the ledger need not read the blocks of the deployment one after the other.
  const prepared = await chain.block('latest');
  if (prepared) {
    const { number, hash } = prepared;
    await noteBlock(database.db, { number, hash, feedPosition: await lastPosition(database.db) }, 1);
  }
  return facts;
}

/** Mints each brand's opening deposit into its escrow, once: the contract records the key of each mint. */
export async function fundBrands(
  deps: PrepareChainDeps & { clock: Clock },
  pointsSale: Address,
  deposits: Deposit[],
): Promise<void> {
  await sendAsAdmin(deps, await depositCalls(deps, pointsSale, deposits));
}

interface Deposit {
  brandId: Address;
  amount: number;
}

/** The mints of opening deposits that the contract does not have yet; all of them stand in the ledger before. */
export async function depositCalls(
  deps: PrepareChainDeps & { clock: Clock },
  pointsSale: Address,
  deposits: Deposit[],
): Promise<SetupCall[]> {
  const { database, rpc, clock } = deps;
  const mints = deposits
    .filter(({ amount }) => amount > 0)
    .map(({ brandId, amount }) => ({
      brandId,
      amount,
      key: keccak256(stringToHex(`opening deposit of ${brandId}`)),
    }));
  for (const { key, brandId, amount } of mints) {
    const mint = { key, kind: 'sale', recipient: brandId, amount, reason: 'opening deposit' } as const;
    await recordMint(database.db, { ...mint, createdAt: clock.now() });
  }
  const areMinted = await Promise.all(
    mints.map(({ key }) => {
      const isMinted = { functionName: 'isMinted', args: [key] } as const;
      return readContract(rpc, { address: pointsSale, abi: pointsSaleAbi, ...isMinted });
    }),
  );
  return mints
    .filter((_, place) => !areMinted[place])
    .map(({ key, brandId, amount }) => {
      const args = [key, brandId, BigInt(amount)] as const;
      const data = encodeFunctionData({ abi: pointsSaleAbi, functionName: 'mintIntoEscrow', args });
      return { to: pointsSale, data };
    });
}

const ADMIN_GAS = 500_000n;
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
  if (calls.length === 0) return;
  const { chain, admin, rpc } = deps;
  const [latest, chainId, firstNonce] = await Promise.all([
    chain.block('latest'),
    chain.chainId(),
    chain.nonce(admin.address),
  ]);
  const priorityFeeWei = 10n ** 9n;
  const signed = await Promise.all(
    calls.map((call, place) =>
      admin.signTransaction({
        type: 'eip1559',
        chainId,
        nonce: firstNonce + place,
        value: 0n,
        gas: ADMIN_GAS,
        maxFeePerGas: (latest?.baseFeeWei ?? 0n) * 2n + priorityFeeWei,
        maxPriorityFeePerGas: priorityFeeWei,
        ...call,
      }),
    ),
  );
  const about = { what: 'the set-up transaction', timeoutMs: RECEIPT_TIMEOUT_MS };
  await sendUntilMined({ rpc, sleep: delay }, signed, about);
}

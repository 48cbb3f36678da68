/** Deploys the four contracts with their roles, and recognises them again on a chain that has them. */
import { type Address, type Hex, hexToBigInt, numberToHex, type TransactionSerializableEIP1559 } from 'viem';
import type { Rpc } from '../rpc/rpc.ts';
import { pointsSaleAbi } from './abis.ts';
import {
  type Artifact,
  businessEscrowArtifact,
  isCodeOf,
  isEarlierCode,
  perkNftArtifact,
  pointsSaleArtifact,
  rewardTokenArtifact,
} from './artifacts.ts';
import {
  type ContractAddresses,
  contractAddresses,
  type DeploymentTerms,
  deploymentSteps,
} from './deployment-steps.ts';
import { readContract } from './read-contract.ts';

type DeployDeps = {
  readonly rpc: Rpc;
  /** Waits in real time between looks at the chain. */
  readonly sleep: (ms: number) => Promise<void>;
};

/** A local account of viem has this shape. */
export type DeploySigner = {
  readonly address: Address;
  signTransaction(transaction: TransactionSerializableEIP1559): Promise<Hex>;
};

/** The accounts that get the roles. `admin` pays for the deployment and stays admin of every contract. */
type DeployAccounts = {
  readonly admin: DeploySigner;
  /** Pays rewards from the escrow. */
  readonly distributor: Address;
  /** Mints for payments. */
  readonly operator: Address;
  /** Redeems perks for users. */
  readonly redeemer: Address;
  /** Configures perks. */
  readonly perkAdmin: Address;
  /** Gas wallets that submit perk purchases for buyers. */
  readonly relayers: readonly Address[];
};

type DeployOptions = DeploymentTerms & {
  /** Default: twice the latest base fee, plus the tip. */
  readonly maxFeePerGasWei?: bigint;
  /** Default 1 gwei. */
  readonly maxPriorityFeePerGasWei?: bigint;
  /** Default 60 s. */
  readonly timeoutMs?: number;
};

/** `block` is the first block that can hold an event of these contracts. */
export type Deployment = ContractAddresses & { readonly block: bigint };

export type ContractProblem = {
  readonly contract: keyof ContractAddresses;
  readonly problem: 'no_code' | 'other_code' | 'too_old' | 'other_token' | 'other_escrow';
};

const GWEI = 10n ** 9n;
const POLL_MS = 25;

/**
 * Deploys the contracts, links them and grants the roles, from the admin's next nonce on. All transactions are
 * sent before the first receipt is waited for, so that with a block time they share a block.
 * @throws Error when a transaction is refused, reverts, or is not mined in time.
 */
export async function deployContracts(
  deps: DeployDeps,
  accounts: DeployAccounts,
  options: DeployOptions = {},
): Promise<Deployment> {
  const { rpc } = deps;
  const admin = accounts.admin.address;
  const [chainId, firstNonce, fees] = await Promise.all([
    quantity(rpc, 'eth_chainId', []),
    quantity(rpc, 'eth_getTransactionCount', [admin, 'pending']),
    deploymentFees(rpc, options),
  ]);
  const addresses = contractAddresses({ deployer: admin, firstNonce: Number(firstNonce) });

  const hashes: Hex[] = [];
  const steps = deploymentSteps(addresses, { ...accounts, deployer: admin, admin }, options);
  for (const [index, { title, ...step }] of steps.entries()) {
    const raw = await accounts.admin.signTransaction({
      type: 'eip1559',
      chainId: Number(chainId),
      nonce: Number(firstNonce) + index,
      ...fees,
      ...step,
    });
    hashes.push((await rpc('eth_sendRawTransaction', [raw])) as Hex);
  }

  let block: bigint | undefined;
  for (const hash of hashes) {
    const minedIn = await minedBlock(deps, hash, options.timeoutMs ?? 60_000);
    block ??= minedIn;
  }
  return { ...addresses, block: block ?? 0n };
}

/**
 * Checks that these are our contracts, of this very build, and wired to each other.
 * @returns what is wrong; empty when all is well.
 */
export async function contractsAt(
  { rpc }: Pick<DeployDeps, 'rpc'>,
  addresses: ContractAddresses,
): Promise<ContractProblem[]> {
  const artifacts: [keyof ContractAddresses, Artifact][] = [
    ['token', rewardTokenArtifact],
    ['escrow', businessEscrowArtifact],
    ['perks', perkNftArtifact],
    ['pointsSale', pointsSaleArtifact],
  ];
  const problems: ContractProblem[] = [];
  for (const [contract, artifact] of artifacts) {
    const code = (await rpc('eth_getCode', [addresses[contract], 'latest'])) as Hex;
    if (code === '0x') problems.push({ contract, problem: 'no_code' });
    else if (!isCodeOf(artifact, code))
      problems.push({ contract, problem: isEarlierCode(code) ? 'too_old' : 'other_code' });
  }
  if (problems.length > 0) return problems;

  const links = [
    ['escrow', 'token'],
    ['perks', 'token'],
    ['perks', 'escrow'],
    ['pointsSale', 'token'],
    ['pointsSale', 'escrow'],
  ] as const;
  for (const [contract, link] of links) {
    const call = { address: addresses[contract], abi: pointsSaleAbi, functionName: link } as const;
    const linked = await readContract(rpc, call);
    if (hexToBigInt(linked) !== hexToBigInt(addresses[link]))
      problems.push({ contract, problem: `other_${link}` });
  }
  return problems;
}

/** What is wrong with a contract, in words that follow its name and a colon. */
export const contractProblemText = (problem: ContractProblem['problem']): string =>
  problem === 'too_old'
    ? 'too old, it was deployed by an earlier version of rewards'
    : problem.replaceAll('_', ' ');

async function deploymentFees(rpc: Rpc, options: DeployOptions) {
  const maxPriorityFeePerGas = options.maxPriorityFeePerGasWei ?? GWEI;
  if (options.maxFeePerGasWei !== undefined)
    return { maxFeePerGas: options.maxFeePerGasWei, maxPriorityFeePerGas };
  const latest = (await rpc('eth_getBlockByNumber', ['latest', false])) as { baseFeePerGas?: Hex };
  const baseFee = hexToBigInt(latest.baseFeePerGas ?? '0x0');
  return { maxFeePerGas: baseFee * 2n + maxPriorityFeePerGas, maxPriorityFeePerGas };
}

async function minedBlock({ rpc, sleep }: DeployDeps, hash: Hex, timeoutMs: number): Promise<bigint> {
  for (let waitedMs = 0; waitedMs <= timeoutMs; waitedMs += POLL_MS) {
    const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as {
      status: Hex;
      blockNumber: Hex;
    } | null;
    if (receipt !== null) {
      if (receipt.status !== numberToHex(1)) throw new Error(`deployment transaction ${hash} reverted`);
      return hexToBigInt(receipt.blockNumber);
    }
    await sleep(POLL_MS);
  }
  throw new Error(`deployment transaction ${hash} was not mined within ${timeoutMs} ms`);
}

async function quantity(rpc: Rpc, method: string, params: readonly unknown[]): Promise<bigint> {
  return hexToBigInt((await rpc(method, params)) as Hex);
}

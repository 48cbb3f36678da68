/** Deploys the four contracts with their roles, and recognises them again on a chain that has them. */
import { type Address, type Hex, hexToBigInt, numberToHex, type TransactionSerializableEIP1559 } from 'viem';
import type { Rpc } from '../rpc/rpc.ts';
import { pointsSaleAbi } from './abis.ts';
import {
  businessEscrowArtifact,
  collectingOf,
  isCodeOf,
  isEarlierCode,
  pointsSaleArtifact,
  redeemingOf,
} from './artifacts.ts';
import {
  type ContractAddresses,
  contractAddresses,
  type DeploymentStep,
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
  /** Further calls of the deployer, sent with the deployment. */
  readonly alsoCalls?: (addresses: ContractAddresses) => readonly DeploymentStep[];
};

/** `block` is the first block that can hold an event of these contracts. */
export type Deployment = ContractAddresses & { readonly block: bigint };

export type ContractProblem = {
  readonly contract: keyof ContractAddresses;
  readonly problem: 'no_code' | 'other_code' | 'too_old' | 'other_token' | 'other_escrow';
};

const GWEI = 10n ** 9n;
/** Where blocks come at once, the next look finds them; a look at all receipts is one request. */
const POLL_MS = 5;

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

  const steps = [
    ...deploymentSteps(addresses, { ...accounts, deployer: admin, admin }, options),
    ...(options.alsoCalls?.(addresses) ?? []),
  ];
  const signed = await Promise.all(
    steps.map(({ title, ...step }, index) =>
      accounts.admin.signTransaction({
        type: 'eip1559',
        chainId: Number(chainId),
        nonce: Number(firstNonce) + index,
        ...fees,
        ...step,
      }),
    ),
  );
  const blocks = await sendUntilMined(deps, signed, {
    what: 'deployment transaction',
    timeoutMs: options.timeoutMs ?? 60_000,
  });
  return { ...addresses, block: blocks[0] ?? 0n };
}

/**
 * Sends signed transactions of one account, in the order of their nonces, and waits until all are in blocks; returns the
 * numbers of those blocks. Requests of one turn share a post where the node takes that. `what` names a transaction in errors.
 * @throws Error when one is refused, reverts, or is not mined in time.
 */
export async function sendUntilMined(
  { rpc, sleep }: DeployDeps,
  signed: readonly Hex[],
  { what, timeoutMs }: { what: string; timeoutMs: number },
): Promise<bigint[]> {
  const hashes = (await Promise.all(signed.map((raw) => rpc('eth_sendRawTransaction', [raw])))) as Hex[];
  let missing: Hex | undefined;
  for (let waitedMs = 0; waitedMs <= timeoutMs; waitedMs += POLL_MS) {
    const receipts = (await Promise.all(hashes.map((hash) => rpc('eth_getTransactionReceipt', [hash])))) as ({
      status: Hex;
      blockNumber: Hex;
    } | null)[];
    const reverted = receipts.findIndex((receipt) => receipt !== null && receipt.status !== numberToHex(1));
    if (reverted !== -1) throw new Error(`${what} ${hashes[reverted]} reverted`);
    const mined = receipts.flatMap((receipt) => (receipt ? hexToBigInt(receipt.blockNumber) : []));
    if (mined.length === hashes.length) return mined;
    missing = hashes[receipts.indexOf(null)];
    await sleep(POLL_MS);
  }
  throw new Error(`${what} ${missing} was not mined within ${timeoutMs} ms`);
}

/**
 * Checks that these are our contracts and wired to each other: of this very build, or an earlier one that still serves.
 * @returns what is wrong; empty when all is well.
 */
export async function contractsAt(
  { rpc }: Pick<DeployDeps, 'rpc'>,
  addresses: ContractAddresses,
): Promise<ContractProblem[]> {
  const isOurs: [keyof ContractAddresses, (code: Hex) => boolean][] = [
    ['token', (code) => collectingOf(code) !== undefined],
    ['escrow', (code) => isCodeOf(businessEscrowArtifact, code)],
    ['perks', (code) => redeemingOf(code) !== undefined],
    ['pointsSale', (code) => isCodeOf(pointsSaleArtifact, code)],
  ];
  const problems: ContractProblem[] = [];
  for (const [contract, isOur] of isOurs) {
    const code = (await rpc('eth_getCode', [addresses[contract], 'latest'])) as Hex;
    if (code === '0x') problems.push({ contract, problem: 'no_code' });
    else if (!isOur(code))
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

async function quantity(rpc: Rpc, method: string, params: readonly unknown[]): Promise<bigint> {
  return hexToBigInt((await rpc(method, params)) as Hex);
}

/** The transactions of a deployment in their order: four contracts, their links and roles, gas money, and the hand-over. */
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  keccak256,
  toHex,
  zeroHash,
} from 'viem';
import { businessEscrowAbi, perkNFTAbi, pointsSaleAbi, rewardTokenAbi } from './abis.ts';
import {
  type Artifact,
  businessEscrowArtifact,
  perkNftArtifact,
  pointsSaleArtifact,
  rewardTokenArtifact,
} from './artifacts.ts';

export type ContractAddresses = {
  readonly token: Address;
  readonly escrow: Address;
  readonly perks: Address;
  readonly pointsSale: Address;
};

/** Which account gets which role. An absent role is granted to no account, and can be granted later. */
export type DeploymentAccounts = {
  /** Signs and pays for everything. */
  readonly deployer: Address;
  /** Admin of every contract in the end. Where it is another account, the deployer hands over and renounces. */
  readonly admin: Address;
  /** Pays rewards from the escrow. */
  readonly distributor: Address;
  /** Mints for payments. */
  readonly operator?: Address | undefined;
  /** Redeems perks for users. */
  readonly redeemer?: Address | undefined;
  /** Configures perks. */
  readonly perkAdmin?: Address | undefined;
  /** Gas wallets that submit perk purchases for buyers. */
  readonly relayers: readonly Address[];
};

export type DeploymentTerms = {
  /** What PointsSale may mint in all. Default 10^15 RWT. */
  readonly mintCap?: bigint | undefined;
  /**
   * RWT that may be collected for perks in an hour without the holders' allowance. Default a million, the worth of
   * 1,000 dollars: far above what users redeem, and the most that a leaked redemption key takes in an hour.
   */
  readonly redemptionCap?: bigint | undefined;
  readonly perkUri?: string | undefined;
  /** Native currency that the distributor, the operator, the redeemer and each relayer get from the deployer. Default 0. */
  readonly gasMoneyWei?: bigint | undefined;
};

export type DeploymentStep = {
  /** What it does, with its arguments: `token.grantRole(MINTER_ROLE, 0x…)`. */
  readonly title: string;
  /** Absent for the creation of a contract. */
  readonly to?: Address;
  readonly data: Hex;
  readonly value: bigint;
  /** The most gas that it may take on a chain like Ethereum. */
  readonly gas: bigint;
};

const DEFAULT_MINT_CAP = 10n ** 15n;
export const DEFAULT_REDEMPTION_CAP = 1_000_000n;
const GRANT_GAS = 120_000n;
const TRANSFER_GAS = 30_000n;

/** Where the contracts are when the deployer's nonce is `firstNonce` before the first step. */
export function contractAddresses({
  deployer,
  firstNonce,
}: {
  deployer: Address;
  firstNonce: number;
}): ContractAddresses {
  const at = (index: number) => getContractAddress({ from: deployer, nonce: BigInt(firstNonce + index) });
  return { token: at(0), escrow: at(1), perks: at(2), pointsSale: at(3) };
}

/** One step for each nonce of the deployer, from `firstNonce` of `addresses` on. */
export function deploymentSteps(
  addresses: ContractAddresses,
  accounts: DeploymentAccounts,
  terms: DeploymentTerms = {},
): DeploymentStep[] {
  const { token, escrow, perks, pointsSale } = addresses;
  const { deployer, distributor, operator, redeemer, perkAdmin, relayers } = accounts;
  const { mintCap = DEFAULT_MINT_CAP, redemptionCap = DEFAULT_REDEMPTION_CAP, perkUri = '' } = terms;
  const on = (contract: keyof ContractAddresses) => roleCalls(contract, addresses[contract]);
  const given = <T>(account: Address | undefined, step: (account: Address) => T): T[] =>
    account === undefined ? [] : [step(account)];
  return [
    creation(rewardTokenArtifact, rewardTokenAbi, [deployer]),
    creation(businessEscrowArtifact, businessEscrowAbi, [token, deployer]),
    creation(perkNftArtifact, perkNFTAbi, [token, escrow, deployer, perkUri]),
    creation(pointsSaleArtifact, pointsSaleAbi, [token, escrow, deployer]),
    on('token').grant('MINTER_ROLE', pointsSale),
    on('token').setMinterCap(pointsSale, mintCap),
    on('token').grant('REDEEMER_ROLE', escrow),
    on('token').setCollectCap(redemptionCap),
    on('escrow').grant('DISTRIBUTOR_ROLE', distributor),
    on('escrow').grant('REDEMPTION_ROLE', perks),
    ...given(operator, (account) => on('pointsSale').grant('OPERATOR_ROLE', account)),
    ...given(redeemer, (account) => on('perks').grant('REDEEMER_ROLE', account)),
    ...given(perkAdmin, (account) => on('perks').grant('PERK_ADMIN_ROLE', account)),
    ...relayers.map((relayer) => on('perks').grant('RELAYER_ROLE', relayer)),
    ...gasMoney(accounts, terms.gasMoneyWei ?? 0n),
    ...handOver(on, accounts),
  ];
}

/** The hash by which the chain knows signed bytes. */
export const hashOfSigned = (raw: Hex): Hex => keccak256(raw);

/** The identifier of a role in all four contracts; '' is the admin's. */
export function roleId(name: string): Hex {
  return name === '' ? zeroHash : keccak256(toHex(name));
}

/** The calls with which an admin of a contract gives and takes roles. */
export function roleCalls(contract: keyof ContractAddresses, to: Address) {
  const call = (title: string, data: Hex): DeploymentStep => ({
    title: `${contract}.${title}`,
    to,
    data,
    value: 0n,
    gas: GRANT_GAS,
  });
  const abi = rewardTokenAbi;
  const shown = (role: string) => role || 'DEFAULT_ADMIN_ROLE';
  return {
    grant: (role: string, account: Address) =>
      call(
        `grantRole(${shown(role)}, ${account})`,
        encodeFunctionData({ abi, functionName: 'grantRole', args: [roleId(role), account] }),
      ),
    renounce: (role: string, account: Address) =>
      call(
        `renounceRole(${shown(role)}, ${account})`,
        encodeFunctionData({ abi, functionName: 'renounceRole', args: [roleId(role), account] }),
      ),
    setMinterCap: (minter: Address, cap: bigint) =>
      call(
        `setMinterCap(${minter}, ${cap})`,
        encodeFunctionData({ abi, functionName: 'setMinterCap', args: [minter, cap] }),
      ),
    setCollectCap: (cap: bigint) =>
      call(`setCollectCap(${cap})`, encodeFunctionData({ abi, functionName: 'setCollectCap', args: [cap] })),
  };
}

const CONTRACTS = ['token', 'escrow', 'perks', 'pointsSale'] as const;

/** The other admin has the role on every contract before the deployer gives up any. */
function handOver(
  on: (contract: keyof ContractAddresses) => ReturnType<typeof roleCalls>,
  { deployer, admin }: DeploymentAccounts,
): DeploymentStep[] {
  if (admin.toLowerCase() === deployer.toLowerCase()) return [];
  return [
    ...CONTRACTS.map((contract) => on(contract).grant('', admin)),
    ...CONTRACTS.map((contract) => on(contract).renounce('', deployer)),
  ];
}

function gasMoney(
  { distributor, operator, redeemer, relayers }: DeploymentAccounts,
  value: bigint,
): DeploymentStep[] {
  if (value === 0n) return [];
  const senders = [distributor, operator ?? [], redeemer ?? [], relayers].flat();
  return senders.map((to) => ({ title: `gas money to ${to}`, to, data: '0x', value, gas: TRANSFER_GAS }));
}

function creation(artifact: Artifact, abi: Abi, args: readonly unknown[]): DeploymentStep {
  const data = encodeDeployData({ abi, bytecode: artifact.bytecode, args });
  const initBytes = BigInt(data.length / 2);
  const codeBytes = BigInt(artifact.deployedBytecode.length / 2);
  // Creation, calldata and init code at their dearest, stored code, and half a million for the constructor.
  const gas = 53_000n + initBytes * 17n + codeBytes * 200n + 500_000n;
  const shown = args.map((arg) => (arg === '' ? "''" : String(arg))).join(', ');
  return { title: `new ${artifact.contractName}(${shown})`, data, value: 0n, gas };
}

/** Which accounts have which roles in the contracts, and the calls that give and take them. */
import { encodeFunctionData, type Hex, hexToBigInt } from 'viem';
import type { Rpc } from '../rpc/rpc.ts';
import { businessEscrowAbi, rewardTokenAbi } from './abis.ts';
import { type ContractAddresses, roleId } from './deployment-steps.ts';
import { readContract } from './read-contract.ts';

/** Every role of every contract; ADMIN may grant the others. */
const rolesOf = {
  token: ['ADMIN', 'MINTER_ROLE', 'REDEEMER_ROLE'],
  escrow: ['ADMIN', 'DISTRIBUTOR_ROLE', 'REDEMPTION_ROLE'],
  perks: ['ADMIN', 'PERK_ADMIN_ROLE', 'REDEEMER_ROLE', 'RELAYER_ROLE'],
  pointsSale: ['ADMIN', 'OPERATOR_ROLE'],
} as const satisfies Record<keyof ContractAddresses, readonly string[]>;

export type Role = {
  [Contract in keyof typeof rolesOf]: `${Contract}.${(typeof rolesOf)[Contract][number]}`;
}[keyof typeof rolesOf];

interface AccountPower {
  roles: Set<Role>;
  /** RWT that the account holds itself, and as a brand in escrow. */
  tokens: bigint;
  inEscrow: bigint;
  gasMoneyWei: bigint;
}

/** Whether an account has a role of one of the four contracts, in the newest block; '' is the admin's. */
export const hasRole = (rpc: Rpc, of: { contract: Hex; role: string; account: Hex }): Promise<boolean> =>
  readContract(rpc, {
    address: of.contract,
    abi: rewardTokenAbi,
    functionName: 'hasRole',
    args: [roleId(of.role), of.account],
  });

/** RWT of an account, in its own name and as a brand in escrow, in the newest block. */
export async function heldTokens(
  { rpc, contracts }: { rpc: Rpc; contracts: ContractAddresses },
  account: Hex,
): Promise<bigint> {
  const balance = { functionName: 'balanceOf', args: [account] } as const;
  const [own, inEscrow] = await Promise.all([
    readContract(rpc, { address: contracts.token, abi: rewardTokenAbi, ...balance }),
    readContract(rpc, { address: contracts.escrow, abi: businessEscrowAbi, ...balance }),
  ]);
  return own + inEscrow;
}

/** What an account may do and holds, in the newest block. */
export async function accountPower(
  deps: { rpc: Rpc; contracts: ContractAddresses },
  account: Hex,
): Promise<AccountPower> {
  const { rpc, contracts } = deps;
  const roles = new Set<Role>();
  for (const [contract, names] of Object.entries(rolesOf)) {
    const address = contracts[contract as keyof ContractAddresses];
    for (const name of names) {
      const role = name === 'ADMIN' ? '' : name;
      if (await hasRole(rpc, { contract: address, role, account })) roles.add(`${contract}.${name}` as Role);
    }
  }
  const balance = { functionName: 'balanceOf', args: [account] } as const;
  return {
    roles,
    tokens: await readContract(rpc, { address: contracts.token, abi: rewardTokenAbi, ...balance }),
    inEscrow: await readContract(rpc, { address: contracts.escrow, abi: businessEscrowAbi, ...balance }),
    gasMoneyWei: hexToBigInt((await rpc('eth_getBalance', [account, 'latest'])) as Hex),
  };
}

/** The role of these words: `perks.RELAYER_ROLE`, or `RELAYER_ROLE` where one contract alone has it. `ADMIN` is not among them: it changes hands with a deployment. */
export function roleNamed(words: string): { contract: keyof ContractAddresses; role: string } | undefined {
  const all = Object.entries(rolesOf).flatMap(([contract, names]) =>
    names
      .filter((role) => role !== 'ADMIN')
      .map((role) => ({ contract: contract as keyof ContractAddresses, role })),
  );
  const found = all.filter(({ contract, role }) => words === role || words === `${contract}.${role}`);
  return found.length === 1 ? found[0] : undefined;
}

/** Roles that can be granted and revoked, as `roleNamed` reads them. */
export const grantableRoles = (): string[] =>
  Object.entries(rolesOf).flatMap(([contract, names]) =>
    names.filter((role) => role !== 'ADMIN').map((role) => `${contract}.${role}`),
  );

/** The call with which the admin of a contract gives a role to an account, or takes it away. */
export function roleCall(
  verb: 'grant' | 'revoke',
  {
    contracts,
    contract,
    role,
    account,
  }: {
    contracts: ContractAddresses;
    contract: keyof ContractAddresses;
    role: string;
    account: Hex;
  },
): { to: Hex; data: Hex } {
  const functionName = verb === 'grant' ? 'grantRole' : 'revokeRole';
  const data = encodeFunctionData({ abi: rewardTokenAbi, functionName, args: [roleId(role), account] });
  return { to: contracts[contract], data };
}

/** Whether the account has the role now, and whether the one that signs may change that. */
export async function roleState(
  rpc: Rpc,
  { contract, role, account, admin }: { contract: Hex; role: string; account: Hex; admin: Hex },
): Promise<{ has: boolean; mayChange: boolean }> {
  return {
    has: await hasRole(rpc, { contract, role, account }),
    mayChange: await hasRole(rpc, { contract, role: '', account: admin }),
  };
}

/** Roles by their names, and the calls that give and take them. */
import { encodeFunctionData, type Hex } from 'viem';
import type { Rpc } from '../rpc/rpc.ts';
import { rewardTokenAbi } from './abis.ts';
import { type ContractAddresses, roleId } from './deployment-steps.ts';
import { hasRole, rolesOf } from './roles.ts';

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

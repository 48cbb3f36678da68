/** A change of a role, from the words of the command line: which contract and role they name, and the call that does it. */
import type { ContractAddresses } from '../../chain/contracts/deployment-steps.ts';
import { grantableRoles, roleCall, roleNamed, roleState } from '../../chain/contracts/roles.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import type { Hex } from '../../lib/hex.ts';

interface RoleChange {
  contract: keyof ContractAddresses;
  role: string;
  call: { to: Hex; data: Hex };
  /** Whether the account has the role now, and whether the one that signs may change that. */
  state: (rpc: Rpc, admin: Hex) => Promise<{ has: boolean; mayChange: boolean }>;
}

/** The roles themselves where the words name none, or one of several contracts. */
export function roleChange(
  verb: 'grant' | 'revoke',
  of: { words: string; account: Hex; contracts: ContractAddresses },
): RoleChange | { roles: string[] } {
  const named = roleNamed(of.words);
  if (!named) return { roles: grantableRoles() };
  const { contract, role } = named;
  const { account, contracts } = of;
  const call = roleCall(verb, { contracts, contract, role, account });
  return {
    contract,
    role,
    call,
    state: (rpc, admin) => roleState(rpc, { contract: call.to, role, account, admin }),
  };
}

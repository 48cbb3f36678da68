/** Reads who may do what with the contracts. */
import { encodeFunctionData, type Hex, hexToBigInt } from 'viem';
import type { Rpc } from '../rpc/rpc.ts';
import { businessEscrowAbi, rewardTokenAbi } from './abis.ts';
import { type ContractAddresses, roleId } from './deploy.ts';

/** Every role of every contract; ADMIN may grant the others. */
const rolesOf = {
  token: ['ADMIN', 'MINTER_ROLE', 'REDEEMER_ROLE'],
  escrow: ['ADMIN', 'DISTRIBUTOR_ROLE', 'REDEMPTION_ROLE'],
  perks: ['ADMIN', 'PERK_ADMIN_ROLE', 'RELAYER_ROLE'],
  pointsSale: ['ADMIN', 'OPERATOR_ROLE'],
} as const satisfies Record<keyof ContractAddresses, readonly string[]>;

export type Role = {
  [Contract in keyof typeof rolesOf]: `${Contract}.${(typeof rolesOf)[Contract][number]}`;
}[keyof typeof rolesOf];

export interface AccountPower {
  roles: Set<Role>;
  /** RWT that the account holds itself, and as a brand in escrow. */
  tokens: bigint;
  inEscrow: bigint;
  gasMoneyWei: bigint;
}

/** What an account may do and holds, in the newest block. */
export async function accountPower(
  deps: { rpc: Rpc; contracts: ContractAddresses },
  account: Hex,
): Promise<AccountPower> {
  const { rpc, contracts } = deps;
  const call = async (to: Hex, data: Hex) =>
    hexToBigInt((await rpc('eth_call', [{ to, data }, 'latest'])) as Hex);
  const roles = new Set<Role>();
  for (const [contract, names] of Object.entries(rolesOf)) {
    for (const name of names) {
      const data = encodeFunctionData({
        abi: rewardTokenAbi,
        functionName: 'hasRole',
        args: [roleId(name === 'ADMIN' ? '' : name), account],
      });
      const to = contracts[contract as keyof ContractAddresses];
      if ((await call(to, data)) === 1n) roles.add(`${contract}.${name}` as Role);
    }
  }
  const balanceOf = (abi: typeof rewardTokenAbi | typeof businessEscrowAbi) =>
    encodeFunctionData({ abi: abi as typeof rewardTokenAbi, functionName: 'balanceOf', args: [account] });
  return {
    roles,
    tokens: await call(contracts.token, balanceOf(rewardTokenAbi)),
    inEscrow: await call(contracts.escrow, balanceOf(businessEscrowAbi)),
    gasMoneyWei: hexToBigInt((await rpc('eth_getBalance', [account, 'latest'])) as Hex),
  };
}

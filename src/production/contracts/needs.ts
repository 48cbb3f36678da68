/** What the service needs of its contracts, and whether they have it: code, links, roles, and what may still be minted. */
import { rewardTokenAbi } from '../../chain/contracts/abis.ts';
import { contractProblemText, contractsAt } from '../../chain/contracts/deploy.ts';
import {
  type ContractAddresses,
  DEFAULT_REDEMPTION_CAP,
  roleCalls,
} from '../../chain/contracts/deployment-steps.ts';
import { readContract } from '../../chain/contracts/read-contract.ts';
import { hasCollectCap, readCollectCap } from '../../chain/contracts/reward-token.ts';
import { hasRole } from '../../chain/contracts/roles.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import type { Hex } from '../../lib/hex.ts';

/** The sending accounts of the service, as far as they are known. */
export interface SendingAccounts {
  payout?: Hex | undefined;
  mint?: Hex | undefined;
  relay?: Hex | undefined;
  redemption?: Hex | undefined;
}

export interface Need {
  /** `E_PROD_CONTRACTS` for code and links, `E_PROD_ROLE` for roles and caps. */
  code: 'E_PROD_CONTRACTS' | 'E_PROD_ROLE';
  /** What must hold, as a sentence without a full stop. */
  what: string;
  met: boolean;
  /** What is said when it does not hold. */
  problem: string;
  /** Which work stands still without it; `all` where nothing works. */
  for: 'all' | 'payouts' | 'minting' | 'funding' | 'relay' | 'redemption' | 'perks';
  fix: string;
}

/** Roles and caps, in the newest block. The four contracts must be ours. */
export async function roleNeeds(
  { rpc, contracts }: { rpc: Rpc; contracts: ContractAddresses },
  accounts: SendingAccounts,
): Promise<Need[]> {
  const role = async (
    what: { of: string; account: Hex | undefined; contract: keyof ContractAddresses; role: string },
    work: Need['for'],
  ): Promise<Need[]> => {
    if (what.account === undefined) return [];
    const { of, account, contract, role: name } = what;
    const met = await hasRole(rpc, { contract: contracts[contract], role: name, account });
    return [
      {
        code: 'E_PROD_ROLE',
        what: `${of} ${account} has ${name} on the ${contract} contract`,
        met,
        problem: `${of} ${account} lacks ${name} on the ${contract} contract`,
        for: work,
        fix: `let the admin of ${contract} grant it: \`rewards contracts grant ${contract}.${name} ${account} --key-file FILE\`, or with --plan for the transaction`,
      },
    ];
  };
  const { payout, mint, relay, redemption } = accounts;
  const { token, escrow, perks, pointsSale } = contracts;
  const call = { address: token, abi: rewardTokenAbi, functionName: 'minterCap' } as const;
  const cap = await readContract(rpc, { ...call, args: [pointsSale] });
  const on = { token: 'token', escrow: 'escrow', perks: 'perks', pointsSale: 'pointsSale' } as const;
  return [
    ...(await role(
      { of: 'the payout account', account: payout, contract: on.escrow, role: 'DISTRIBUTOR_ROLE' },
      'payouts',
    )),
    ...(await role(
      { of: 'the mint account', account: mint, contract: on.pointsSale, role: 'OPERATOR_ROLE' },
      'minting',
    )),
    ...(await role(
      { of: 'the relay account', account: relay, contract: on.perks, role: 'RELAYER_ROLE' },
      'relay',
    )),
    ...(await role(
      { of: 'the pointsSale contract', account: pointsSale, contract: on.token, role: 'MINTER_ROLE' },
      'minting',
    )),
    {
      code: 'E_PROD_ROLE',
      what: `the pointsSale contract may mint more RWT (${cap} are left)`,
      met: cap > 0n,
      problem: `the pointsSale contract ${pointsSale} may mint nothing more: its cap on the token contract is 0`,
      for: 'funding',
      fix: `let the admin of token call setMinterCap(${pointsSale}, …)`,
    },
    ...(await role(
      { of: 'the escrow contract', account: escrow, contract: on.token, role: 'REDEEMER_ROLE' },
      'redemption',
    )),
    await collectCapNeed({ rpc, token }),
    ...(await role(
      { of: 'the perks contract', account: perks, contract: on.escrow, role: 'REDEMPTION_ROLE' },
      'redemption',
    )),
    ...(await role(
      { of: 'the redemption account', account: redemption, contract: on.perks, role: 'REDEEMER_ROLE' },
      'redemption',
    )),
    ...(await role(
      { of: 'the redemption account', account: redemption, contract: on.perks, role: 'PERK_ADMIN_ROLE' },
      'perks',
    )),
  ];
}

/** What may be collected for perks in an hour without the holders' allowance. */
async function collectCapNeed({ rpc, token }: { rpc: Rpc; token: Hex }): Promise<Need> {
  const need = { code: 'E_PROD_ROLE', for: 'redemption' } as const;
  const cap = DEFAULT_REDEMPTION_CAP;
  const data = roleCalls('token', token).setCollectCap(cap).data;
  const problem = `the token contract ${token} lets nothing be collected for perks without a permit: its collect cap is 0`;
  const fix = `let the admin of token call setCollectCap(${cap}): rewards contracts send ${token} ${data} --key-file <admin's key>`;
  if (!(await hasCollectCap({ rpc, token }))) {
    const what = 'the token contract is of an earlier version, without a cap for what is collected for perks';
    return { ...need, what, met: true, problem, fix };
  }
  const found = await readCollectCap({ rpc, token });
  return {
    ...need,
    what: `the escrow may collect ${found.cap} RWT an hour for perks without the holders' allowance (${found.left} are left)`,
    met: found.cap > 0n,
    problem,
    fix,
  };
}

/** Code and links, then the rest where those are right. */
export async function allNeeds(
  deps: { rpc: Rpc; contracts: ContractAddresses },
  accounts: SendingAccounts,
): Promise<Need[]> {
  const wrong = await contractsAt(deps, deps.contracts);
  const code = Object.entries(deps.contracts).map(([contract, at]): Need => {
    const problem = wrong.find((one) => one.contract === contract)?.problem;
    return {
      code: 'E_PROD_CONTRACTS',
      what: `${contract} at ${at} has the code of this version, and its links`,
      met: problem === undefined,
      problem: `${contract} at ${at}: ${problem && contractProblemText(problem)}`,
      for: 'all',
      fix: 'check the address; another version of rewards needs newly deployed contracts',
    };
  });
  return wrong.length > 0 ? code : [...code, ...(await roleNeeds(deps, accounts))];
}

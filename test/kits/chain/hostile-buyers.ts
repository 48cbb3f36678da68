/** Buyers whose wallets have code (EIP-7702) that refuses every perk, each in a way of its own. */
import { type Abi, createWalletClient, encodeDeployData, type Hex, http } from 'viem';
import { devPaths } from '../../../src/lib/development.ts';
import artifact from '../../solidity/solidity/artifacts/HostileBuyer.json' with { type: 'json' };
import type { TestService } from '../service/service.ts';
import { devAccount } from './dev-accounts.ts';
import { personWith } from './redeeming.ts';

/** In the order of `HostileBuyer.Refusal`. */
export const refusals = [
  'an error of its own',
  'a text',
  'no word',
  'a wrong answer',
  'a panic',
  'burned gas',
  'the words of our own contracts for a missing role',
  'twenty thousand bytes',
] as const;

/** What a wallet that delegates to this code has. */
const delegatedTo = (address: Hex): Hex => `0xef0100${address.slice(2).toLowerCase()}`;

/** Deploys the code of each kind; the function gives a person with RWT a wallet of a kind. */
export async function hostileBuyers(service: TestService) {
  const account = devAccount({ path: devPaths.admin });
  const client = createWalletClient({ account, transport: http(service.ready.urls.rpc) });
  const codes: Hex[] = [];
  for (const [kind] of refusals.entries()) {
    const data = encodeDeployData({
      abi: artifact.abi as Abi,
      bytecode: artifact.bytecode as Hex,
      args: [kind],
    });
    const hash = await client.sendTransaction({ data, chain: null });
    const { contractAddress } = await service.chain.waitForTransactionReceipt({ hash });
    if (!contractAddress) throw new Error('nothing was deployed');
    codes.push(contractAddress);
  }
  return async (kind: number, amount: number) => {
    const person = await personWith(service, amount);
    await service.chain.request({
      method: 'anvil_setCode',
      params: [person.wallet, delegatedTo(codes[kind % codes.length] as Hex)],
    } as never);
    return person;
  };
}

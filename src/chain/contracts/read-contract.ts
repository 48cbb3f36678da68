/** Reads what contracts say about themselves: the one way to call a function that changes nothing. */
import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionParameters,
  type ContractFunctionReturnType,
  type DecodeFunctionResultParameters,
  decodeFunctionResult,
  type EncodeFunctionDataParameters,
  encodeFunctionData,
  type Hex,
  numberToHex,
} from 'viem';
import type { Rpc } from '../rpc/rpc.ts';

type Reading = 'pure' | 'view';

/** What the function returns in `block`, by default the newest; its name, arguments and answer are typed by the ABI. */
export async function readContract<
  const abi extends Abi,
  name extends ContractFunctionName<abi, Reading>,
  const args extends ContractFunctionArgs<abi, Reading, name>,
>(
  rpc: Rpc,
  call: ContractFunctionParameters<abi, Reading, name, args>,
  block?: number,
): Promise<ContractFunctionReturnType<abi, Reading, name, args>> {
  const { address: to } = call;
  const data = encodeFunctionData(call as unknown as EncodeFunctionDataParameters);
  const at = block === undefined ? 'latest' : numberToHex(block);
  const answer = (await rpc('eth_call', [{ to, data }, at])) as Hex;
  const result = { ...call, data: answer } as unknown as DecodeFunctionResultParameters;
  return decodeFunctionResult(result) as ContractFunctionReturnType<abi, Reading, name, args>;
}

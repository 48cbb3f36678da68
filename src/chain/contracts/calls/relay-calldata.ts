/** Reads what a relayed call would do, and says in words why one failed. */
import {
  type Abi,
  type AbiFunction,
  decodeErrorResult,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  toFunctionSelector,
  toFunctionSignature,
} from 'viem';
import type { ContractName } from '../../../rules/relay-policy.ts';
import type { ContractAddresses } from '../deployment-steps.ts';
import { abisByName } from './abis-by-name.ts';

/** Which of the service's contracts stands at an address (lower case). */
export function contractNamed(contracts: ContractAddresses, address: string): ContractName | undefined {
  const found = Object.entries(contracts).find(([, one]) => one.toLowerCase() === address);
  return found && (found[0] as ContractName);
}

const bySelector = new Map<ContractName, Map<string, AbiFunction>>();

/** The functions of a contract by their selectors: each is a hash, so they are computed once. */
function functionsOf(contract: ContractName): Map<string, AbiFunction> {
  const known = bySelector.get(contract);
  if (known) return known;
  const functions = abisByName[contract].flatMap((one) => (one.type === 'function' ? one : []));
  const named = new Map(functions.map((one) => [toFunctionSelector(one) as string, one]));
  bySelector.set(contract, named);
  return named;
}

/**
 * The function and the arguments that call data names. `signature` is undefined when the contract has no such
 * function, or the bytes are not exactly what an encoder makes of these arguments: data that two readers might understand
 * differently is not sent.
 */
export function readCall(
  contract: ContractName,
  data: Hex,
): { signature: string | undefined; args: readonly unknown[] } {
  const nothing = { signature: undefined, args: [] };
  const item = functionsOf(contract).get(data.slice(0, 10));
  if (!item) return nothing;
  try {
    // One item at a time: overloads share a name.
    const only = [item];
    const { args = [] } = decodeFunctionData({ abi: only, data });
    const again = encodeFunctionData({ abi: only, functionName: item.name, args });
    return again.toLowerCase() === data.toLowerCase()
      ? { signature: toFunctionSignature(item), args }
      : nothing;
  } catch {
    return nothing;
  }
}

const WORDS_MAX = 200;
const everyError: Abi = Object.values(abisByName)
  .flat()
  .filter((one) => one.type === 'error');

/** What revert data says, for people: `PerkSoldOut(7)`; never longer than a line. */
export function revertReason(data: Hex | undefined): string {
  if (!data || data === '0x') return 'reverted without a reason';
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: everyError, data });
    const text = errorName === 'Error' ? String(args[0]) : `${errorName}(${args.map(String).join(', ')})`;
    return text.slice(0, WORDS_MAX);
  } catch {
    return `reverted with ${data.slice(0, 10)}`;
  }
}

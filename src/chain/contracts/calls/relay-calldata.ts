/** Reads what a relayed call would do, and says in words why one failed; the contracts' ABIs by the names that people call them. */
import {
  type Abi,
  type AbiFunction,
  decodeAbiParameters,
  decodeErrorResult,
  encodeAbiParameters,
  type Hex,
  toFunctionSelector,
  toFunctionSignature,
} from 'viem';
import type { ContractName } from '../../../rules/relay-policy.ts';
import { businessEscrowAbi, perkNFTAbi, pointsSaleAbi, rewardTokenAbi } from '../abis.ts';
import type { ContractAddresses } from '../deployment-steps.ts';

/** The four contracts' ABIs by the names that the API and the command line call them. */
export const abisByName: Record<ContractName, Abi> = {
  token: rewardTokenAbi,
  escrow: businessEscrowAbi,
  perks: perkNFTAbi,
  pointsSale: pointsSaleAbi,
};

/** Which of the service's contracts stands at an address (lower case). */
export function contractNamed(contracts: ContractAddresses, address: string): ContractName | undefined {
  const found = Object.entries(contracts).find(([, one]) => one.toLowerCase() === address);
  return found && (found[0] as ContractName);
}

interface Known {
  signature: string;
  inputs: AbiFunction['inputs'];
}

const bySelector = new Map<ContractName, Map<string, Known>>();

/** The functions of a contract by their selectors: each is a hash, so they are computed once. */
function functionsOf(contract: ContractName): Map<string, Known> {
  const known = bySelector.get(contract);
  if (known) return known;
  const functions = abisByName[contract].flatMap((one) => (one.type === 'function' ? one : []));
  const named = new Map(
    functions.map((one): [string, Known] => [
      toFunctionSelector(one),
      { signature: toFunctionSignature(one), inputs: one.inputs },
    ]),
  );
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
  const found = functionsOf(contract).get(data.slice(0, 10));
  if (!found) return nothing;
  const { signature, inputs } = found;
  const given: Hex = `0x${data.slice(10).toLowerCase()}`;
  try {
    const args = inputs.length === 0 ? [] : decodeAbiParameters(inputs, given);
    return encodeAbiParameters(inputs, args).toLowerCase() === given ? { signature, args } : nothing;
  } catch {
    return nothing;
  }
}

const WORDS_MAX = 200;
const everyError: Abi = Object.values(abisByName)
  .flat()
  .filter((one) => one.type === 'error');

/** A stranger's contract may say anything: a zero character alone would keep the text out of a database. */
const CONTROLS = /\p{C}/gu;

/** What revert data says, for people: `PerkSoldOut(7)`; never longer than a line, and without control characters. */
export function revertReason(data: Hex | undefined): string {
  if (!data || data === '0x') return 'reverted without a reason';
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: everyError, data });
    const text = errorName === 'Error' ? String(args[0]) : `${errorName}(${args.map(String).join(', ')})`;
    return text.slice(0, WORDS_MAX).replace(CONTROLS, '?');
  } catch {
    return `reverted with ${data.slice(0, 10)}`;
  }
}

/** The name of the custom error of our contracts that revert data is; undefined for texts, panics and anything else. */
export function customErrorOf(data: Hex | undefined): string | undefined {
  try {
    const { errorName } = decodeErrorResult({ abi: everyError, data: data ?? '0x' });
    return errorName === 'Error' || errorName === 'Panic' ? undefined : errorName;
  } catch {
    return undefined;
  }
}

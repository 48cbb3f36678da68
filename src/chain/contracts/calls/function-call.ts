/** A contract's function by its name and its arguments as people write them, turned into call data. */
import {
  type Abi,
  type AbiFunction,
  type AbiParameter,
  encodeFunctionData,
  type Hex,
  toFunctionSignature,
} from 'viem';
import type { ContractName } from '../../../rules/relay-policy.ts';
import { abisByName } from './relay-calldata.ts';

export const contractNames = Object.keys(abisByName) as ContractName[];

interface FunctionCall {
  data: Hex;
  /** For example `purchaseFor(address,uint256,uint256)`. */
  signature: string;
  /** By the names that the contract gives them. */
  args: Record<string, unknown>;
}

type CallProblem =
  | { code: 'unknown_function'; name: string; known: string[] }
  | { code: 'wrong_count'; signature: string; given: number }
  | { code: 'wrong_argument'; signature: string; place: number; name: string; type: string; given: string };

/** The functions of a contract that change something and whose values people can type, by their signatures. */
export const functionsOf = (contract: ContractName): string[] =>
  changing(abisByName[contract]).map((one) => toFunctionSignature(one));

/** `name` is a function's name or its whole signature; `me` stands for the arguments `me` and `user`. */
export function encodeCall(
  contract: ContractName,
  call: { name: string; args: readonly string[]; me: Hex },
): FunctionCall | { problem: CallProblem } {
  const named = changing(abisByName[contract]).filter(
    (one) => one.name === call.name || toFunctionSignature(one) === call.name.replaceAll(' ', ''),
  );
  const [first] = named;
  if (!first) return { problem: { code: 'unknown_function', name: call.name, known: functionsOf(contract) } };
  const found = named.find(({ inputs }) => inputs.length === call.args.length);
  const signature = toFunctionSignature(found ?? first);
  if (!found) return { problem: { code: 'wrong_count', signature, given: call.args.length } };
  const values: unknown[] = [];
  for (const [place, input] of found.inputs.entries()) {
    const given = call.args[place] ?? '';
    const value = readArgument(input, given, call.me);
    if (value === undefined) {
      const { name = '', type } = input;
      return { problem: { code: 'wrong_argument', signature, place, name, type, given } };
    }
    values.push(value);
  }
  return {
    data: encodeFunctionData({ abi: [found], functionName: found.name, args: values }),
    signature,
    args: Object.fromEntries(found.inputs.map(({ name }, place) => [name ?? String(place), values[place]])),
  };
}

const changing = (abi: Abi): AbiFunction[] =>
  abi.filter((one): one is AbiFunction => {
    return (
      one.type === 'function' &&
      (one.stateMutability === 'nonpayable' || one.stateMutability === 'payable') &&
      // A struct is written by the service alone.
      one.inputs.every(({ type }) => !type.startsWith('tuple'))
    );
  });

/** Undefined when the text is not a value of that type. Lists are JSON. The types are those that our contracts take. */
function readArgument({ type }: AbiParameter, text: string, me: Hex): unknown {
  const given = text.trim();
  if (type === 'address') {
    if (given === 'me' || given === 'user') return me;
    return /^0x[0-9a-fA-F]{40}$/.test(given) ? given.toLowerCase() : undefined;
  }
  if (type === 'bool') return { true: true, false: false }[given];
  if (type.endsWith('[]')) return readList(given, { type: type.slice(0, -2), me });
  const [, sign, bits] = /(u?)int(\d+)/.exec(type) ?? [];
  if (bits) return readWhole(given, { signed: sign === '', bits: BigInt(bits) });
  if (!type.startsWith('bytes') || !/^0x(?:[0-9a-fA-F]{2})*$/.test(given)) return undefined;
  const size = type.slice('bytes'.length);
  return size === '' || given.length === 2 + 2 * Number(size) ? given : undefined;
}

function readWhole(text: string, { signed, bits }: { signed: boolean; bits: bigint }): bigint | undefined {
  if (!/^(?:-?\d[\d_]*|0x[0-9a-fA-F]+)$/.test(text)) return undefined;
  const value = BigInt(text.replaceAll('_', ''));
  const most = signed ? 2n ** (bits - 1n) - 1n : 2n ** bits - 1n;
  const least = signed ? -(2n ** (bits - 1n)) : 0n;
  return value >= least && value <= most ? value : undefined;
}

function readList(text: string, of: { type: string; me: Hex }): unknown[] | undefined {
  let items: unknown;
  try {
    items = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(items)) return undefined;
  const values = items.map((item) =>
    readArgument({ type: of.type }, typeof item === 'string' ? item : JSON.stringify(item), of.me),
  );
  return values.includes(undefined) ? undefined : values;
}

/** Says in words what transactions call and what their logs tell, by the ABIs of our contracts. */
import { type AbiFunction, decodeEventLog, type Hex, toFunctionSignature } from 'viem';
import type { ContractName } from '../../../rules/relay-policy.ts';
import type { Log } from '../../rpc/client.ts';
import type { ContractAddresses } from '../deployment-steps.ts';
import { decodePayoutBatch } from '../payout-batch.ts';
import { abisByName, contractNamed, readCall } from './relay-calldata.ts';

/** What somebody put into a call or a log may be of any length. */
const TEXT_MAX = 200;
const ENTRIES_MAX = 100;

interface Argument {
  name: string;
  value: string;
}

interface DescribedCall {
  /** Undefined: none of ours. */
  contract: ContractName | undefined;
  /** Such as `purchaseFor(address,uint256,uint256)`; undefined where it is no function of the contract. */
  signature: string | undefined;
  args: Argument[];
  /** What a batch of rewards pays. */
  payouts?: { count: number; shown: { sequence: string; brandId: string; to: string; amount: string }[] };
}

export function describeCall(
  contracts: ContractAddresses,
  { to, data }: { to: Hex | null; data: Hex },
): DescribedCall {
  const contract = to === null ? undefined : contractNamed(contracts, to.toLowerCase());
  if (contract === undefined) return { contract, signature: undefined, args: [] };
  const { signature, args } = readCall(contract, data);
  const names = signature === undefined ? [] : parameterNames(contract, signature);
  const described = {
    contract,
    signature,
    args: args.map((value, place) => ({ name: names[place] || String(place), value: textOf(value) })),
  };
  const entries = contract === 'escrow' ? payoutsIn(data) : undefined;
  if (!entries) return described;
  const shown = entries.slice(0, ENTRIES_MAX).map(({ sequence, brandId, to: recipient, amount }) => ({
    sequence: String(sequence),
    brandId,
    to: recipient,
    amount: String(amount),
  }));
  return { ...described, payouts: { count: entries.length, shown } };
}

function payoutsIn(data: Hex) {
  try {
    return decodePayoutBatch(data);
  } catch {
    return undefined;
  }
}

function parameterNames(contract: ContractName, signature: string): string[] {
  const found = abisByName[contract].find(
    (one): one is AbiFunction => one.type === 'function' && toFunctionSignature(one) === signature,
  );
  return found?.inputs.map(({ name = '' }) => name) ?? [];
}

interface DescribedLog {
  address: Hex;
  contract: ContractName | undefined;
  /** Undefined where it is no event of ours. */
  event: string | undefined;
  args: Argument[];
}

export function describeLog(contracts: ContractAddresses, { address, topics, data }: Log): DescribedLog {
  const contract = contractNamed(contracts, address.toLowerCase());
  const unknown = { address, contract, event: undefined, args: [] };
  if (contract === undefined) return unknown;
  try {
    const decoded = decodeEventLog({ abi: abisByName[contract], topics: topics as [Hex, ...Hex[]], data });
    const args = Object.entries((decoded.args ?? {}) as Record<string, unknown>);
    return {
      address,
      contract,
      event: decoded.eventName,
      args: args.map(([name, value]) => ({ name, value: textOf(value) })),
    };
  } catch {
    return unknown;
  }
}

function textOf(value: unknown): string {
  const text =
    typeof value === 'object' && value !== null
      ? JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner))
      : String(value);
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}

/** The sale's mints, to an account or into a brand's escrow balance, which happen once for each key. */
import { encodeFunctionData, type Hex, keccak256, stringToHex } from 'viem';
import { pointsSaleAbi } from './abis.ts';

/** The key on chain of a paid session's mint; `sessionId` is the processor's. */
export const sessionMintKey = (sessionId: string): Hex => keccak256(stringToHex(sessionId));

/** The key on chain of an operator's mint, from its id in the ledger. */
export const operatorMintKey = (id: string): Hex => keccak256(stringToHex(`operator mint ${id}`));

/**
 * Upper bounds in gas, above the dearest case that test/solidity/gas.test.ts builds: a new holder of the token, or a brand
 * that is new to the escrow.
 */
const GAS_LIMITS = { wallet: 160_000n, escrow: 240_000n } as const;

/** A safe gas limit for a mint. */
export const mintGasLimit = (kind: SaleMint['kind']): bigint => GAS_LIMITS[kind];

/** `recipient` is the account for kind `wallet`, the brand for `escrow`; `amount` is in whole RWT. */
export interface SaleMint {
  kind: 'wallet' | 'escrow';
  key: Hex;
  recipient: Hex;
  amount: number;
}

/** Calldata for the sale, whose sender needs `OPERATOR_ROLE`. */
export function saleMintData({ kind, key, recipient, amount }: SaleMint): Hex {
  const args = [key, recipient, BigInt(amount)] as const;
  const functionName = kind === 'wallet' ? 'mintForPayment' : 'mintIntoEscrow';
  return encodeFunctionData({ abi: pointsSaleAbi, functionName, args });
}

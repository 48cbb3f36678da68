/** The sale's mint into a brand's escrow balance, which happens once for each key. */
import { encodeFunctionData, type Hex, keccak256, stringToHex } from 'viem';
import { pointsSaleAbi } from './abis.ts';

/** The key on chain of an operator's mint, from its id in the ledger. */
export const operatorMintKey = (id: string): Hex => keccak256(stringToHex(`operator mint ${id}`));

/** Calldata for the sale; `amount` is in whole RWT. The sender needs `OPERATOR_ROLE`. */
export const mintIntoEscrowData = (mint: { key: Hex; brandId: Hex; amount: number }): Hex =>
  encodeFunctionData({
    abi: pointsSaleAbi,
    functionName: 'mintIntoEscrow',
    args: [mint.key, mint.brandId, BigInt(mint.amount)],
  });

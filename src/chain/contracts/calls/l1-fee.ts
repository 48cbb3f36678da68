/** What a chain of the OP stack would take for a transaction's data on another chain; nothing on other chains. */
import { concat, type Hex, parseAbi } from 'viem';
import { type Rpc, RpcUnreachableError } from '../../rpc/rpc.ts';
import { readContract } from '../read-contract.ts';

/** The chains of the OP stack have it at this address from their first block on. */
const ORACLE = '0x420000000000000000000000000000000000000F';
const oracleAbi = parseAbi(['function getL1Fee(bytes data) view returns (uint256)']);
/** As many bytes as a transaction has beside its data: nonce, fees, gas, recipient, signature. */
const AROUND: Hex = `0x${'ff'.repeat(150)}`;

/** Returns a function that estimates the fee of a transaction with this data, in wei, at the newest block. */
export function createL1FeeReader({ rpc }: { rpc: Rpc }): (data: Hex) => Promise<bigint> {
  // Asked once: a chain is of the OP stack, or it is not.
  let isThere: boolean | undefined;
  return async (data) => {
    isThere ??= ((await rpc('eth_getCode', [ORACLE, 'latest'])) as Hex) !== '0x';
    if (!isThere) return 0n;
    const call = { address: ORACLE, abi: oracleAbi, functionName: 'getL1Fee' } as const;
    return readContract(rpc, { ...call, args: [concat([data, AROUND])] }).catch((error: unknown) => {
      if (error instanceof RpcUnreachableError) throw error;
      // Another contract at this address.
      return 0n;
    });
  };
}

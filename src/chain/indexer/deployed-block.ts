/** Finds out from the chain whether contracts were deployed in a block, and in which one they were. */
import { type Hex, numberToHex } from 'viem';
import type { ContractAddresses } from '../contracts/deployment-steps.ts';
import { type Rpc, RpcAnswerError, RpcUnreachableError } from '../rpc/rpc.ts';

export type DeploymentBlock =
  | { kind: 'right' }
  /** `first`: the block in which the first of the contracts was deployed. */
  | { kind: 'too_early' | 'too_late'; first: number }
  | { kind: 'not_mined'; head: number }
  /** No node that answers keeps the state of so old a block. */
  | { kind: 'unknown' };

/**
 * Compares the contracts' code at `block` and at the one before. Right is every block up to the escrow's own that
 * holds one of the contracts already: the follower reads the escrow's events, and none can be older.
 */
export async function deploymentBlockAt(
  deps: { nodes: readonly Rpc[]; head: number },
  { contracts, block }: { contracts: ContractAddresses; block: number },
): Promise<DeploymentBlock> {
  const { head } = deps;
  if (block > head) return { kind: 'not_mined', head };
  for (const rpc of deps.nodes) {
    const has = (address: Hex, at: number) => hasCode(rpc, { address, at });
    const hasAny = async (at: number) =>
      (await Promise.all(Object.values(contracts).map((address) => has(address, at)))).includes(true);
    try {
      const isLate = block > 0 && (await has(contracts.escrow, block - 1));
      if (!isLate && (await hasAny(block))) return { kind: 'right' };
      return { kind: isLate ? 'too_late' : 'too_early', first: await firstWhere(hasAny, head) };
    } catch (error) {
      // Another node may keep more.
      if (!(error instanceof RpcAnswerError || error instanceof RpcUnreachableError)) throw error;
    }
  }
  return { kind: 'unknown' };
}

async function hasCode(rpc: Rpc, { address, at }: { address: Hex; at: number }): Promise<boolean> {
  const code = await rpc('eth_getCode', [address, numberToHex(at)]);
  // A node that has nothing of this block may say so with null.
  if (typeof code !== 'string') throw new RpcUnreachableError('eth_getCode', 'an unreadable answer');
  return code !== '0x';
}

/** The first block up to `head` for which `holds` is true, when it is true for all after it; asks for each half. */
async function firstWhere(holds: (block: number) => Promise<boolean>, head: number): Promise<number> {
  let [first, last] = [0, head];
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    if (await holds(middle)) last = middle;
    else first = middle + 1;
  }
  return first;
}

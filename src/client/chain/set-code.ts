/** Code for an account of a development stack, as if it had been deployed at its address. */
import { createRpc, rpcLimits } from '../../chain/rpc/rpc.ts';
import type { Hex } from '../../lib/hex.ts';

/** `0x` takes its code from an account. Throws when the node does not answer, or has no such method. */
export async function setCode(rpcUrl: string, account: { address: string; code: Hex }): Promise<void> {
  const rpc = createRpc({ url: rpcUrl, ...rpcLimits });
  await rpc('anvil_setCode', [account.address, account.code]);
}

/** Blocks as a stranger can fill them: with logs that nobody needs, from creation code without a contract. */
import { type Hex, parseEther, toHex } from 'viem';
import type { Rpc } from '../../../src/chain/rpc/rpc.ts';

/** Writes 768 KB into a log, twice. */
const LOGS_OF_1536_KB: Hex = '0x620c00006000a0620c00006000a000';
const GAS_EACH = 16_000_000;
/** Receipts show each byte as two digits. */
export const RECEIPT_BYTES_EACH = 2 * 2 * 786_432;

const stranger: Hex = `0x${'57'.repeat(20)}`;

/** Puts transactions into the node's pool, each of which makes 3.1 MB of receipts and takes 15 million gas. */
export async function fillWithLogs(rpc: Rpc, transactions: number): Promise<void> {
  await rpc('anvil_setBalance', [stranger, toHex(parseEther('1000'))]);
  await rpc('anvil_impersonateAccount', [stranger]);
  for (let n = 0; n < transactions; n++) {
    await rpc('eth_sendTransaction', [
      { from: stranger, data: LOGS_OF_1536_KB, gas: toHex(GAS_EACH), maxFeePerGas: toHex(100n * 10n ** 9n) },
    ]);
  }
}

/** Takes transactions out of the local chain and puts them back, with or without a signature. */
import { type Hex, hexToString, stringToHex } from 'viem';
import type { LocalBlock, LocalRpc } from './local-rpc.ts';

/** No encoded transaction starts with this byte: typed ones start below 0x80, old ones with 0xf8 or 0xf9. */
const UNSIGNED_MARK = '0xff';

/** Bounds one request. */
const TRANSACTIONS_PER_REQUEST = 500;

/** The fields that Anvil needs to send a transaction again for its sender. */
const FIELDS = [
  'from',
  'to',
  'nonce',
  'gas',
  'value',
  'input',
  'gasPrice',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
  'accessList',
] as const;

/** The transactions of each block, ready for the journal; undefined when the chain no longer has one. */
export async function readTransactions(rpc: LocalRpc, blocks: LocalBlock[]): Promise<Hex[][] | undefined> {
  const hashes = blocks.flatMap((block) => block.transactionHashes);
  const raws: Hex[] = [];
  for (let start = 0; start < hashes.length; start += TRANSACTIONS_PER_REQUEST) {
    const part = hashes.slice(start, start + TRANSACTIONS_PER_REQUEST);
    const answers = await rpc.all(
      part.map((hash) => ({ method: 'eth_getRawTransactionByHash', params: [hash] })),
    );
    for (const [index, raw] of (answers as (Hex | null)[]).entries()) {
      const hash = part[index];
      if (!raw || !hash) return undefined;
      raws.push(await withSender(rpc, { raw, hash }));
    }
  }
  let next = 0;
  return blocks.map((block) => {
    next += block.transactionHashes.length;
    return raws.slice(next - block.transactionHashes.length, next);
  });
}

/** An impersonated account's transaction carries a signature of zeros, so its bytes do not tell the sender. */
async function withSender(rpc: LocalRpc, transaction: { raw: Hex; hash: Hex }): Promise<Hex> {
  if (!transaction.raw.endsWith('8080')) return transaction.raw;
  const found = (await rpc.call('eth_getTransactionByHash', [transaction.hash])) as Record<
    string,
    unknown
  > | null;
  if (!found || BigInt(String(found.r)) !== 0n) return transaction.raw;
  const fields = Object.fromEntries(
    FIELDS.filter((name) => found[name] != null).map((name) => [name, found[name]]),
  );
  // Anvil reports the paid price beside the two limits, but accepts only one of the two forms.
  if ('maxFeePerGas' in fields) delete fields.gasPrice;
  return `${UNSIGNED_MARK}${stringToHex(JSON.stringify(fields)).slice(2)}`;
}

/** Passes a transaction of the journal to the pool; rejects when Anvil refuses it. */
export async function sendAgain(rpc: LocalRpc, stored: Hex): Promise<void> {
  if (!stored.startsWith(UNSIGNED_MARK)) {
    await rpc.call('eth_sendRawTransaction', [stored]);
    return;
  }
  const fields = JSON.parse(hexToString(`0x${stored.slice(UNSIGNED_MARK.length)}`)) as { from: Hex };
  await rpc.call('anvil_impersonateAccount', [fields.from]);
  await rpc.call('eth_sendTransaction', [fields]);
  await rpc.call('anvil_stopImpersonatingAccount', [fields.from]);
}

export const isUnsigned = (stored: Hex): boolean => stored.startsWith(UNSIGNED_MARK);

/** The bytes of a transaction as nodes read them (EIP-1559): RLP behind the number of its type. Byte for byte what viem writes, for a tenth of the time. */
import type { TransactionSerializableEIP1559 } from 'viem';
import type { Signature } from '../../lib/curve/types.ts';

const TYPE = Buffer.of(2);
const NOTHING = Buffer.alloc(0);
const EMPTY_LIST = Buffer.of(0xc0);

/** Returns the bytes to be hashed for the signature, and the function that adds the signature to them. */
export function bytesToSign(transaction: TransactionSerializableEIP1559): {
  unsigned: Buffer;
  signedBy(signature: Signature): Buffer;
} {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to, value, data, accessList } =
    transaction;
  if (accessList && accessList.length > 0)
    throw new TypeError('transactions of the service list no accesses');
  const recipient = bytesOf(to);
  if (recipient.length !== 0 && recipient.length !== 20) throw new TypeError('a recipient has 20 bytes');
  const numbers = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas].map(wholeBytes);
  const items = [...numbers, recipient, wholeBytes(value), bytesOf(data)].map(encoded);
  const listed = Buffer.concat([...items, EMPTY_LIST]);
  return {
    unsigned: list(listed),
    signedBy({ bytes, yParity }) {
      const r = withoutZeros(bytes.subarray(0, 32));
      const s = withoutZeros(bytes.subarray(32));
      return list(Buffer.concat([listed, ...[wholeBytes(yParity), r, s].map(encoded)]));
    },
  };
}

const list = (items: Buffer): Buffer => Buffer.concat([TYPE, head(items.length, 0xc0), items]);

/** Text that is not hex is refused: Node would read it up to the first character that it does not know. */
function bytesOf(hex: string | null | undefined): Buffer {
  if (hex === undefined || hex === null || hex === '') return NOTHING;
  const bytes = Buffer.from(hex.slice(2), 'hex');
  if (!hex.startsWith('0x') || bytes.length * 2 + 2 !== hex.length)
    throw new TypeError('a part of a transaction is not 0x and pairs of hex digits');
  return bytes;
}

/** As short as possible: zero takes no byte at all. */
function wholeBytes(value: bigint | number | undefined): Buffer {
  if (value === undefined || value === 0 || value === 0n) return NOTHING;
  if (value < 0) throw new RangeError('a number of a transaction is below zero');
  const digits = value.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

function withoutZeros(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first === -1 ? NOTHING : Buffer.from(bytes.subarray(first));
}

function encoded(bytes: Buffer): Buffer {
  const [first = 0] = bytes;
  return bytes.length === 1 && first < 0x80 ? bytes : Buffer.concat([head(bytes.length, 0x80), bytes]);
}

/** How long what follows is; `from` tells texts from lists. */
function head(length: number, from: number): Buffer {
  if (length < 56) return Buffer.of(from + length);
  const size = wholeBytes(length);
  return Buffer.concat([Buffer.of(from + 55 + size.length), size]);
}

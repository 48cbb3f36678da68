/** Keys held by this process: grown from a seed, and what they sign. */
import { createHmac, pbkdf2Sync } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { entropyToMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english';
import { getAddress, type Hex, hexToBytes, type TransactionSerializableEIP1559, toHex } from 'viem';
import { addressOfKey, keccak256 } from '../../lib/keccak256.ts';
import { type Signature, secp256k1 } from '../../lib/secp256k1.ts';
import type { Signer } from './types.ts';

export function localKeySigner(privateKey: Hex): Signer {
  // Not by viem, whose error would quote a malformed key.
  const key = Buffer.from(privateKey.slice(2), 'hex');
  return {
    address: getAddress(addressOfKey(publicKeyOf(key))),
    async signTransaction(transaction) {
      const { unsigned, signedBy } = bytesToSign(transaction);
      const digest = Buffer.from(keccak256(unsigned).slice(2), 'hex');
      return `0x${signedBy(secp256k1.sign(digest, key)).toString('hex')}`;
    },
  };
}

/** Throws when the bytes are not a private key; the error does not contain them. */
function publicKeyOf(key: Buffer): Uint8Array {
  try {
    return secp256k1.publicKeyOf(key);
  } catch {
    throw new Error('not a private key: it has 32 bytes, and is above zero and below the order of the curve');
  }
}

/**
 * Keys that grow from one private key (BIP-32, m/<index>'), and that key itself for null: restoring the one key
 * restores all of them.
 */
export function keysDerivedFrom(privateKey: Hex): (index: number | null) => Signer {
  const root = rootOf(hexToBytes(privateKey));
  return (index) =>
    localKeySigner(index === null ? privateKey : toHex(keyAt(root, `m/${index}'`).privateKey));
}

/** Every key that grows from one mnemonic phrase. */
interface KeyTree {
  signerAt(path: string): Signer;
  /** From which addresses, and no keys, are derived. */
  extendedPublicKeyAt(path: string): string;
}

/** Turning a phrase into its seed is slow on purpose, so it is done once for the whole tree. */
export function keyTree(mnemonic: string): KeyTree {
  const root = rootOf(seedOf(mnemonic));
  return {
    signerAt: (path) => localKeySigner(toHex(keyAt(root, path).privateKey)),
    extendedPublicKeyAt: (path) => extendedPublicKey(root, path),
  };
}

/** BIP-39, without a passphrase. Done natively: the HD library's own takes fifty times as long, at every start. */
const seedOf = (mnemonic: string): Uint8Array =>
  pbkdf2Sync(mnemonic.normalize('NFKD'), 'mnemonic', 2048, 64, 'sha512');

/** A private key of 32 random bytes. */
export const privateKeyOf = (bytes: Uint8Array): Hex => toHex(bytes);

/** The phrase of 24 English words that stands for 32 random bytes (BIP-39). */
export const phraseOf = (entropy: Uint8Array): string => entropyToMnemonic(entropy, wordlist);

// Private keys that grow from a seed (BIP-32). The HD library's own growth takes a tenth of the time of a whole start.

/** A key at one place of the tree. */
interface DerivedKey {
  privateKey: Buffer;
  chainCode: Buffer;
}

/** Indexes from here on are written with an apostrophe: only a private key has such children. */
const HARDENED = 2 ** 31;
const GROUP_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export const rootOf = (seed: Uint8Array): DerivedKey => halves('Bitcoin seed', seed);

/** The key at a path such as `m/44'/60'/0'/0/1`. */
export const keyAt = (root: DerivedKey, path: string): DerivedKey => indexesOf(path).reduce(childOf, root);

/** From which public keys below `path` can be derived. */
export function extendedPublicKey(root: DerivedKey, path: string): string {
  const indexes = indexesOf(path);
  const { privateKey, chainCode } = indexes.reduce(childOf, root);
  const above = indexes.slice(0, -1).reduce(childOf, root);
  const place =
    indexes.length === 0
      ? {}
      : { parentFingerprint: new HDKey({ publicKey: shortPublicKey(above.privateKey) }).fingerprint };
  const [index = 0] = indexes.slice(-1);
  const publicKey = shortPublicKey(privateKey);
  return new HDKey({ publicKey, chainCode, depth: indexes.length, index, ...place }).publicExtendedKey;
}

function indexesOf(path: string): number[] {
  if (!/^m(\/\d{1,10}'?)*$/.test(path)) throw new Error(`${path} is not a path of keys`);
  return path
    .split('/')
    .slice(1)
    .map((step) => {
      const index = Number.parseInt(step, 10);
      if (index >= HARDENED) throw new Error(`${path} is not a path of keys`);
      return step.endsWith("'") ? index + HARDENED : index;
    });
}

function childOf({ privateKey, chainCode }: DerivedKey, index: number): DerivedKey {
  const data = Buffer.alloc(37);
  data.set(index >= HARDENED ? privateKey : shortPublicKey(privateKey), index >= HARDENED ? 1 : 0);
  data.writeUInt32BE(index, 33);
  const step = halves(chainCode, data);
  const sum = (numberOf(privateKey) + numberOf(step.privateKey)) % GROUP_ORDER;
  // One in 2^127 indexes has no key; BIP-32 says to use the next index. It will not happen in practice.
  if (numberOf(step.privateKey) >= GROUP_ORDER || sum === 0n) throw new Error(`there is no key at ${index}`);
  return { privateKey: Buffer.from(sum.toString(16).padStart(64, '0'), 'hex'), chainCode: step.chainCode };
}

function halves(key: string | Buffer, data: Uint8Array): DerivedKey {
  const hash = createHmac('sha512', key).update(data).digest();
  return { privateKey: hash.subarray(0, 32), chainCode: hash.subarray(32) };
}

const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);

/** The public key in 33 bytes: whether y is odd, and x. */
function shortPublicKey(privateKey: Buffer): Buffer {
  const key = Buffer.from(secp256k1.publicKeyOf(privateKey));
  return Buffer.concat([Buffer.of(2 + (key.readUInt8(64) & 1)), key.subarray(1, 33)]);
}

// The bytes of a transaction as nodes read them (EIP-1559): RLP behind the number of its type. Byte for byte what viem
// writes, for a tenth of the time.

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

/** Private keys that grow from a seed (BIP-32). The HD library's own growth takes a tenth of the time of a whole start. */
import { createHmac } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { secp256k1 } from '../../lib/curve/secp256k1.ts';

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

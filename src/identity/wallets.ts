/**
 * Users' wallets: the port to them (the service knows their addresses, and holds no key of them), and how an address
 * grows from the operator's public key.
 */
import { createHmac } from 'node:crypto';
import { addressOfKey } from '../lib/keccak256.ts';
import { secp256k1 } from '../lib/secp256k1.ts';
import { checksummed } from './checksum.ts';

export interface WalletTree {
  /** The address at a place of the operator's key tree; the same place always gives the same address. */
  addressAt(index: number): `0x${string}`;
}

// The step from a level of a key tree to one of its addresses (BIP-32), for the program and for its thread. It is done
// here and not by the HD library, whose own takes twice as long: a new user's wallet is on the path of every first
// reward.

/** Of the level above the addresses. `longKey` is `publicKey` with its second coordinate, which takes a square root to find. */
export interface TreeLevel {
  publicKey: Uint8Array;
  longKey: Uint8Array;
  chainCode: Uint8Array;
}

/** Hardened children start here; a public key cannot derive them. */
const INDEX_MAX = 2 ** 31;

/** Throws a RangeError for an index outside of a public key's children. */
export function childAddress({ publicKey, longKey, chainCode }: TreeLevel, index: number): `0x${string}` {
  if (!Number.isInteger(index) || index < 0 || index >= INDEX_MAX)
    throw new RangeError(`no wallet at ${index}`);
  const data = Buffer.alloc(37);
  data.set(publicKey);
  data.writeUInt32BE(index, 33);
  const step = createHmac('sha512', chainCode).update(data).digest().subarray(0, 32);
  // One in 2^127 indexes has no key, and this throws; BIP-32 says to use the next index. It will not happen in practice.
  return checksummed(addressOfKey(secp256k1.addScalar(longKey, step)));
}

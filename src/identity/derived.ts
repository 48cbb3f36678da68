/** Wallets derived from an extended public key (BIP-32): no private key is ever in this process. */
import { createHmac } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { addressOfKey } from '../lib/curve/keccak256.ts';
import { secp256k1 } from '../lib/curve/secp256k1.ts';
import { checksummed } from './checksum.ts';
import type { WalletTree } from './wallets.ts';

/** Hardened children start here; a public key cannot derive them. */
const INDEX_MAX = 2 ** 31;

/**
 * `extendedPublicKey` is an xpub of the level above the addresses (m/44'/60'/account'/0).
 * The step to a child is done here and not by the HD library, whose own takes twice as long: a new user's
 * wallet is on the path of every first reward.
 */
export function derivedWallets(extendedPublicKey: string): WalletTree {
  const { publicKey, chainCode } = HDKey.fromExtendedKey(extendedPublicKey);
  if (!publicKey || !chainCode) throw new Error('the extended public key has no key or no chain code');
  // Zero added, the key is the same in its long form, whose second coordinate need not be worked out for each child.
  const longKey = secp256k1.addScalar(publicKey, new Uint8Array(32));
  return {
    addressAt(index) {
      if (!Number.isInteger(index) || index < 0 || index >= INDEX_MAX)
        throw new RangeError(`no wallet at ${index}`);
      const data = Buffer.alloc(37);
      data.set(publicKey);
      data.writeUInt32BE(index, 33);
      const step = createHmac('sha512', chainCode).update(data).digest().subarray(0, 32);
      // One in 2^127 indexes has no key, and this throws; BIP-32 says to use the next index. It will not happen in practice.
      return checksummed(addressOfKey(secp256k1.addScalar(longKey, step)));
    },
  };
}

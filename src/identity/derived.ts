/** Wallets derived from an extended public key (BIP-32): no private key is ever in this process. */
import { createHmac } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { pointAddScalar } from 'tiny-secp256k1';
import { bytesToHex, getAddress, keccak256 } from 'viem';
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
  return {
    addressAt(index) {
      if (!Number.isInteger(index) || index < 0 || index >= INDEX_MAX)
        throw new RangeError(`no wallet at ${index}`);
      const data = Buffer.alloc(37);
      data.set(publicKey);
      data.writeUInt32BE(index, 33);
      const step = createHmac('sha512', chainCode).update(data).digest().subarray(0, 32);
      const child = pointAddScalar(publicKey, step, false);
      // One in 2^127 indexes has no key; BIP-32 says to use the next index. It will not happen in practice.
      if (!child) throw new Error(`there is no key at ${index}`);
      return getAddress(`0x${keccak256(bytesToHex(child.subarray(1))).slice(-40)}`);
    },
  };
}

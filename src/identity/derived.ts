/** Wallets derived from an extended public key (BIP-32): no private key is ever in this process. */
import { HDKey } from '@scure/bip32';
import { secp256k1 } from '../lib/secp256k1.ts';
import { childAddress, type TreeLevel, type WalletTree } from './wallets.ts';

/** `extendedPublicKey` is an xpub of the level above the addresses (m/44'/60'/account'/0). */
export function levelOf(extendedPublicKey: string): TreeLevel {
  const { publicKey, chainCode } = HDKey.fromExtendedKey(extendedPublicKey);
  if (!publicKey || !chainCode) throw new Error('the extended public key has no key or no chain code');
  // Zero added, the key is the same in its long form.
  return { publicKey, longKey: secp256k1.addScalar(publicKey, new Uint8Array(32)), chainCode };
}

/** The wallets below an extended public key, each derived when it is asked for. */
export function derivedWallets(extendedPublicKey: string): WalletTree {
  const level = levelOf(extendedPublicKey);
  return { addressAt: (index) => childAddress(level, index) };
}

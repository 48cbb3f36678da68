/** Keys held by this process. */
import { pbkdf2Sync } from 'node:crypto';
import { entropyToMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english';
import { getAddress, type Hex, hexToBytes, toHex } from 'viem';
import { addressOfKey, keccak256 } from '../../lib/curve/keccak256.ts';
import { secp256k1 } from '../../lib/curve/secp256k1.ts';
import { extendedPublicKey, keyAt, rootOf } from './hd-derivation.ts';
import { bytesToSign } from './signed-bytes.ts';
import type { Signer } from './signer.ts';

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

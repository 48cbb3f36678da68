/** Keys held by this process. */
import { pbkdf2Sync } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { entropyToMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english';
import { type Hex, hexToBytes, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Signer } from './signer.ts';

export function localKeySigner(privateKey: Hex): Signer {
  const account = privateKeyToAccount(privateKey);
  return {
    address: account.address,
    signTransaction: (transaction) => account.signTransaction(transaction),
  };
}

/**
 * Keys that grow from one private key (BIP-32, m/<index>'), and that key itself for null: restoring the one key
 * restores all of them.
 */
export function keysGrownFrom(privateKey: Hex): (index: number | null) => Signer {
  const root = HDKey.fromMasterSeed(hexToBytes(privateKey));
  return (index) => {
    if (index === null) return localKeySigner(privateKey);
    const child = root.derive(`m/${index}'`).privateKey;
    if (!child) throw new Error(`there is no private key at ${index}`);
    return localKeySigner(toHex(child));
  };
}

/** Every key that grows from one mnemonic phrase. */
interface KeyTree {
  signerAt(path: string): Signer;
  /** From which addresses, and no keys, are derived. */
  extendedPublicKeyAt(path: string): string;
}

/** Turning a phrase into its seed is slow on purpose, so it is done once for the whole tree. */
export function keyTree(mnemonic: string): KeyTree {
  const root = HDKey.fromMasterSeed(seedOf(mnemonic));
  return {
    signerAt(path) {
      const { privateKey } = root.derive(path);
      if (!privateKey) throw new Error(`there is no private key at ${path}`);
      return localKeySigner(toHex(privateKey));
    },
    extendedPublicKeyAt: (path) => root.derive(path).publicExtendedKey,
  };
}

/** BIP-39, without a passphrase. Done natively: the HD library's own takes fifty times as long, at every start. */
const seedOf = (mnemonic: string): Uint8Array =>
  pbkdf2Sync(mnemonic.normalize('NFKD'), 'mnemonic', 2048, 64, 'sha512');

/** A private key of 32 random bytes. */
export const privateKeyOf = (bytes: Uint8Array): Hex => toHex(bytes);

/** The phrase of 24 English words that stands for 32 random bytes (BIP-39). */
export const phraseOf = (entropy: Uint8Array): string => entropyToMnemonic(entropy, wordlist);

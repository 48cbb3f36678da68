import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { mnemonicToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { derivedWallets } from '../../src/identity/derived.ts';
import { addressOfKey } from '../../src/lib/keccak256.ts';
import { secp256k1 } from '../../src/lib/secp256k1.ts';

const mnemonic = 'test test test test test test test test test test test junk';
const above = HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic)).derive("m/44'/60'/3'/0");
const wallets = derivedWallets(above.publicExtendedKey);

test('the public key gives the addresses of the private one', () => {
  for (const index of [0, 1, 2, 77, 4_095, 65_536, 2 ** 31 - 1]) {
    const account = mnemonicToAccount(mnemonic, { path: `m/44'/60'/3'/0/${index}` });
    expect(wallets.addressAt(index)).toBe(account.address);
  }
});

test.each([-1, 0.5, 2 ** 31, Number.NaN])('there is no wallet at %d', (index) => {
  expect(() => wallets.addressAt(index)).toThrow(new RangeError(`no wallet at ${index}`));
});

test('a private extended key is of no more use than its public half', () => {
  expect(derivedWallets(above.privateExtendedKey).addressAt(5)).toBe(wallets.addressAt(5));
});

test.each([
  // Of test vector 1: m/0'/1/2'/2 and its child.
  [
    'xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62cfN7fe5JnJ7dh8zL4fiyLHV',
    1_000_000_000,
    'xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro49S8yGasTvXEYBVPamhGW6cFJodrTHy',
  ],
  // Of test vector 2: m and its child.
  [
    'xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB',
    0,
    'xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH',
  ],
])('%s at %d is as BIP-32 says', (parent, index, child) => {
  const { publicKey } = HDKey.fromExtendedKey(child);
  if (!publicKey) throw new Error('the vector has no key');
  // Zero added, the key is the same, in its long form.
  const key = secp256k1.addScalar(publicKey, new Uint8Array(32));
  expect(derivedWallets(parent).addressAt(index).toLowerCase()).toBe(addressOfKey(key));
});

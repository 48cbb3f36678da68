import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { mnemonicToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { derivedWallets } from '../../src/identity/derived.ts';

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

/** Transactions signed by a key of this process: byte for byte those that viem signs. */
import { createHash } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import {
  type Hex,
  hexToBytes,
  recoverTransactionAddress,
  type TransactionSerializableEIP1559,
  toHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { keysDerivedFrom, keyTree, localKeySigner, phraseOf } from '../../src/chain/lane/local-key.ts';

/** The same in every run. */
const hashOf = (name: string): Hex => toHex(createHash('sha256').update(name).digest());
const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';

/** From the emptiest to a batch's: what a field spells changes with its length. */
const transactions: Omit<TransactionSerializableEIP1559, 'nonce'>[] = [
  { type: 'eip1559', chainId: 1 },
  { type: 'eip1559', chainId: 31_337, to: TOKEN, value: 1n, gas: 21_000n, maxFeePerGas: 7n },
  {
    type: 'eip1559',
    chainId: 8_453,
    to: TOKEN,
    data: `0x${'00ab'.repeat(4_000)}`,
    value: 0n,
    gas: 9_000_000n,
    maxFeePerGas: 3_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  },
  // Lengths are spelled in another way from 56 bytes on, and with another byte from 256 and 65,536 on.
  ...[1, 54, 55, 56, 57, 255, 256, 65_536].map((bytes) => ({
    type: 'eip1559' as const,
    chainId: 10,
    to: null,
    gas: 127n,
    maxFeePerGas: 128n,
    data: `0x${'7f'.repeat(bytes)}` as const,
  })),
  { type: 'eip1559', chainId: 2 ** 40, data: '0x6000', value: 2n ** 200n, gas: 2n ** 63n, accessList: [] },
];

test('many keys and payloads: the bytes and the address are those of viem', async () => {
  for (let n = 0; n < 100; n++) {
    const privateKey = hashOf(`key ${n}`);
    const [signer, account] = [localKeySigner(privateKey), privateKeyToAccount(privateKey)];
    expect(signer.address).toBe(account.address);
    // Each payload under ten keys: viem takes milliseconds for each.
    for (const transaction of transactions.filter((_, place) => n % 10 === place % 10)) {
      const raw = await signer.signTransaction({ ...transaction, nonce: n });
      expect(raw).toBe(await account.signTransaction({ ...transaction, nonce: n }));
      expect(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toBe(
        account.address,
      );
    }
  }
});

test.each([
  [{ to: '0x5FbDB2315678afecb367f032d93F642f64180aa' }, 'pairs of hex digits'],
  [{ to: '0x5FbDB2315678afecb367f032d93F642f64180a' }, '20 bytes'],
  [{ data: '0x12zz34' }, 'pairs of hex digits'],
  [{ data: 'abcd' as Hex }, 'pairs of hex digits'],
  [{ value: -1n }, 'below zero'],
  [{ accessList: [{ address: TOKEN, storageKeys: [] }] }, 'list no accesses'],
] as const)('what would be another transaction is not signed: %o', async (part, why) => {
  const signer = localKeySigner(hashOf('key'));
  const transaction = { type: 'eip1559', chainId: 1, nonce: 1, ...part } as const;
  await expect(signer.signTransaction(transaction)).rejects.toThrow(why);
});

test.each([
  '0x',
  `0x${'00'.repeat(32)}`,
  `0x${'ff'.repeat(32)}`,
  `0x${'zz'.repeat(32)}`,
  '0x12345678',
] as const)('%s is not a private key, and the error does not quote it', (text) => {
  let message = '';
  try {
    localKeySigner(text);
  } catch (error) {
    message = String(error);
  }
  expect(message).toMatch(/key/i);
  if (text !== '0x') expect(message).not.toContain(text.slice(2));
});

describe('keys that grow (BIP-32)', () => {
  const phrases = Array.from({ length: 10 }, (_, n) => phraseOf(hexToBytes(hashOf(`phrase ${n}`))));
  const paths = ['m', 'm/0', "m/0'", "m/44'/60'/0'/0/7", "m/2147483647'/1/2147483646'/2", "m/44'/60'/1'/0"];
  const addressOf = (key: HDKey) => privateKeyToAccount(toHex(key.privateKey ?? '0x')).address;

  test('from a phrase: addresses and extended public keys are those of the HD library', () => {
    for (const phrase of phrases) {
      const [tree, other] = [keyTree(phrase), HDKey.fromMasterSeed(mnemonicToSeedSync(phrase))];
      for (const path of paths) {
        expect(tree.signerAt(path).address).toBe(addressOf(other.derive(path)));
        expect(tree.extendedPublicKeyAt(path)).toBe(other.derive(path).publicExtendedKey);
      }
    }
  });

  test('from a private key: the gas wallets are those of the HD library', () => {
    for (let n = 0; n < 20; n++) {
      const key = hashOf(`relay ${n}`);
      const other = HDKey.fromMasterSeed(hexToBytes(key));
      expect(keysDerivedFrom(key)(n).address).toBe(addressOf(other.derive(`m/${n}'`)));
      expect(keysDerivedFrom(key)(null).address).toBe(privateKeyToAccount(key).address);
    }
  });

  test.each(['', '0', 'm/', 'm/x', 'm/-1', 'm/1.5', 'm/2147483648', "m/0''", 'M/0'])(
    '%j is not a path',
    (path) => {
      expect(() => keyTree(phrases[0] ?? '').signerAt(path)).toThrow(`${path} is not a path of keys`);
    },
  );
});

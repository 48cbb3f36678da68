/** Both builds of the curve against each other and against viem's own, and the hash against viem's. */
import { createHash } from 'node:crypto';
import { bytesToHex, hexToBytes, keccak256 as keccakOfViem, toHex } from 'viem';
import { privateKeyToAccount, publicKeyToAddress, sign } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { addressOfKey, keccak256 } from '../../src/lib/keccak256.ts';
import { loadNativeSecp256k1, portableSecp256k1 } from '../../src/lib/secp256k1.ts';

/** 32 bytes that are the same in every run. */
const bytes = (name: string) => new Uint8Array(createHash('sha256').update(name).digest());
const names = Array.from({ length: 100 }, (_, n) => `${n}`);
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const number = (value: bigint) => hexToBytes(toHex(value, { size: 32 }));

const native = loadNativeSecp256k1();

describe.each([
  ['native', native],
  ['portable', portableSecp256k1],
])('%s', (_, curve) => {
  test('the address of a private key is that of viem', () => {
    for (const key of names.map(bytes))
      expect(addressOfKey(curve.publicKeyOf(key))).toBe(
        privateKeyToAccount(bytesToHex(key)).address.toLowerCase(),
      );
  });

  test('signatures are those of viem, and give the key back', async () => {
    for (const name of names) {
      const [key, digest] = [bytes(name), bytes(`digest ${name}`)];
      const { r, s, yParity } = await sign({ hash: bytesToHex(digest), privateKey: bytesToHex(key) });
      const signature = curve.sign(digest, key);
      expect([bytesToHex(signature.bytes), signature.yParity]).toEqual([`${r}${s.slice(2)}`, yParity]);
      expect(curve.recover(digest, signature)).toEqual(curve.publicKeyOf(key));
    }
  });

  test('a scalar added to a public key is the same added to its private one, at the edges too', () => {
    const sum = (key: bigint, scalar: bigint) =>
      bytesToHex(curve.addScalar(curve.publicKeyOf(number(key)), number(scalar)));
    const keyOf = (key: bigint) => bytesToHex(curve.publicKeyOf(number(key)));
    for (const [key, scalar] of [
      [1n, 0n],
      [1n, 1n],
      [5n, ORDER - 1n],
      [ORDER - 1n, ORDER - 1n],
    ] as const)
      expect(sum(key, scalar)).toBe(keyOf((key + scalar) % ORDER));
    // The point at infinity, and a scalar that is not below the order: BIP-32 has no child there.
    expect(() => sum(1n, ORDER - 1n)).toThrow();
    expect(() => sum(1n, ORDER)).toThrow();
  });

  test.each([
    [0n, 1n],
    [1n, 0n],
    [ORDER, 1n],
    [1n, ORDER],
    // Not the x of any point.
    [5n, 1n],
  ])('no key has made the signature r = %d, s = %d', (r, s) => {
    const signature = { bytes: new Uint8Array([...number(r), ...number(s)]), yParity: 0 } as const;
    expect(() => curve.recover(bytes('digest'), signature)).toThrow();
  });

  test('zero and the order are not private keys, and neither are 31 bytes', () => {
    for (const key of [number(0n), number(ORDER), bytes('short').subarray(1)]) {
      expect(() => curve.publicKeyOf(key)).toThrow();
      expect(() => curve.sign(bytes('digest'), key)).toThrow();
    }
  });
});

describe('keccak256', () => {
  test('of every length around the blocks of the hash is that of viem', () => {
    for (let length = 0; length < 500; length++) {
      const message = new Uint8Array(length).map((_, at) => bytes(`${length} ${at >> 5}`)[at & 31] ?? 0);
      expect(keccak256(message)).toBe(keccakOfViem(message));
      expect(keccak256(Buffer.from(message))).toBe(keccakOfViem(message));
    }
  });

  test('of a text is that of its bytes', () => {
    const text = 'Perk für 5 € 🎁';
    expect(keccak256(text)).toBe(keccakOfViem(Buffer.from(text)));
  });

  test('the address of a public key is that of viem', () => {
    const key = native.publicKeyOf(bytes('key'));
    expect(addressOfKey(key)).toBe(publicKeyToAddress(bytesToHex(key)).toLowerCase());
  });
});

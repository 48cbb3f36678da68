/** Ethereum's curve: native code where there is a build for the platform, JavaScript elsewhere. */
import { createRequire } from 'node:module';
import { secp256k1 as noble } from '@noble/curves/secp256k1';

/** What is used of the curve. Public keys that come out have 65 bytes; digests, private keys and scalars 32. */
interface Secp256k1 {
  publicKeyOf(privateKey: Uint8Array): Uint8Array;
  /** `publicKey`, of 33 or 65 bytes, plus `scalar` times the generator. Throws when the sum is not a key. */
  addScalar(publicKey: Uint8Array, scalar: Uint8Array): Uint8Array;
  /** RFC 6979: the same input gives the same signature, with the lower of both possible `s` (EIP-2). */
  sign(digest: Uint8Array, privateKey: Uint8Array): Signature;
  /** The public key whose owner signed. Throws when no key can have made the signature. */
  recover(digest: Uint8Array, signature: Signature): Uint8Array;
}

export interface Signature {
  /** r and s, 32 bytes each. */
  bytes: Uint8Array;
  yParity: 0 | 1;
}

/** The curve in JavaScript, which runs on every platform. Users' wallets are derived with the same package, so it is loaded anyway. */
export const portableSecp256k1: Secp256k1 = {
  publicKeyOf: (privateKey) => noble.getPublicKey(privateKey, false),
  addScalar(publicKey, scalar) {
    const { ProjectivePoint: Point } = noble;
    const point = Point.fromHex(publicKey);
    const times = BigInt(`0x${Buffer.from(scalar).toString('hex')}`);
    // It multiplies by nothing below 1.
    return (times === 0n ? point : point.add(Point.BASE.multiply(times))).toRawBytes(false);
  },
  sign(digest, privateKey) {
    const signature = noble.sign(digest, privateKey, { lowS: true });
    // Not 2 or 3: they stand for an r above the group's order, which comes once in 2^127 signatures.
    return { bytes: signature.toCompactRawBytes(), yParity: signature.recovery === 1 ? 1 : 0 };
  },
  recover: (digest, { bytes, yParity }) =>
    noble.Signature.fromCompact(bytes).addRecoveryBit(yParity).recoverPublicKey(digest).toRawBytes(false),
};

type Bindings = typeof import('secp256k1/bindings.js').default;

/** The curve by Bitcoin's own library, as native code. Throws where the package has no build for the platform. */
export function loadNativeSecp256k1(): Secp256k1 {
  // Not the package's main file: without a build that falls back to a slower implementation than ours.
  const bindings = createRequire(import.meta.url)('secp256k1/bindings.js') as Bindings;
  return {
    publicKeyOf: (privateKey) => bindings.publicKeyCreate(privateKey, false),
    addScalar: (publicKey, scalar) => bindings.publicKeyTweakAdd(publicKey, scalar, false),
    sign(digest, privateKey) {
      const { signature, recid } = bindings.ecdsaSign(digest, privateKey);
      return { bytes: signature, yParity: recid };
    },
    recover: (digest, { bytes, yParity }) => bindings.ecdsaRecover(bytes, yParity, digest, false),
  };
}

/** Chosen once: the native code takes a small part of the time, but its package has no build for some platforms. */
export const secp256k1: Secp256k1 = load();

function load(): Secp256k1 {
  try {
    return loadNativeSecp256k1();
  } catch {
    return portableSecp256k1;
  }
}

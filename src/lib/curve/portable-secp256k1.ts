/** The curve in JavaScript, which runs on every platform. Users' wallets are derived with the same package, so it is loaded anyway. */
import { secp256k1 } from '@noble/curves/secp256k1';
import type { Secp256k1 } from './types.ts';

const { ProjectivePoint: Point, Signature } = secp256k1;

export const portableSecp256k1: Secp256k1 = {
  publicKeyOf: (privateKey) => secp256k1.getPublicKey(privateKey, false),
  addScalar(publicKey, scalar) {
    const point = Point.fromHex(publicKey);
    const times = BigInt(`0x${Buffer.from(scalar).toString('hex')}`);
    // It multiplies by nothing below 1.
    return (times === 0n ? point : point.add(Point.BASE.multiply(times))).toRawBytes(false);
  },
  sign(digest, privateKey) {
    const signature = secp256k1.sign(digest, privateKey, { lowS: true });
    // Not 2 or 3: they stand for an r above the group's order, which comes once in 2^127 signatures.
    return { bytes: signature.toCompactRawBytes(), yParity: signature.recovery === 1 ? 1 : 0 };
  },
  recover: (digest, { bytes, yParity }) =>
    Signature.fromCompact(bytes).addRecoveryBit(yParity).recoverPublicKey(digest).toRawBytes(false),
};

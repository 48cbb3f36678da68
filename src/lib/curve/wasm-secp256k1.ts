/** The curve by Bitcoin's own library, as WebAssembly: it runs on every platform. */
import { createRequire } from 'node:module';
import type { Secp256k1 } from './types.ts';

type Package = typeof import('tiny-secp256k1');

/** Loaded when it is needed: compiling it takes longer than all other packages of the start. */
export function loadWasmSecp256k1(): Secp256k1 {
  const { pointAddScalar, pointFromScalar, recover, signRecoverable } = createRequire(import.meta.url)(
    'tiny-secp256k1',
  ) as Package;
  return {
    publicKeyOf: (privateKey) => existing(pointFromScalar(privateKey, false)),
    addScalar: (publicKey, scalar) => existing(pointAddScalar(publicKey, scalar, false)),
    sign(digest, privateKey) {
      const { signature, recoveryId } = signRecoverable(digest, privateKey);
      // Not 2 or 3: they stand for an r above the group's order, which comes once in 2^127 signatures.
      return { bytes: signature, yParity: recoveryId === 1 ? 1 : 0 };
    },
    recover: (digest, { bytes, yParity }) => existing(recover(digest, bytes, yParity, false)),
  };
}

function existing(point: Uint8Array | null): Uint8Array {
  if (!point) throw new Error('the result is not a point of the curve');
  return point;
}

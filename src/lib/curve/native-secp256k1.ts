/** The curve by Bitcoin's own library, as native code. */
import { createRequire } from 'node:module';
import type { Secp256k1 } from './types.ts';

type Bindings = typeof import('secp256k1/bindings.js').default;

/** Throws where the package has no build for the platform. */
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

/** The native half of the package secp256k1, which has no types: what is used of it. */
declare module 'secp256k1/bindings.js' {
  const bindings: {
    publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array;
    publicKeyTweakAdd(publicKey: Uint8Array, tweak: Uint8Array, compressed: boolean): Uint8Array;
    ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: 0 | 1 };
    ecdsaRecover(signature: Uint8Array, recid: 0 | 1, digest: Uint8Array, compressed: boolean): Uint8Array;
  };
  export default bindings;
}

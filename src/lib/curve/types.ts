/** What is used of Ethereum's curve. Public keys that come out have 65 bytes; digests, private keys and scalars 32. */
export interface Secp256k1 {
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

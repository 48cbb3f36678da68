/** Bytes as chains write them. */

/** `0x`, then two digits a byte. */
export type Hex = `0x${string}`;

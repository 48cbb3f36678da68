/** Ethereum's curve: native code where there is a build for the platform, JavaScript elsewhere. */
import { loadNativeSecp256k1 } from './native-secp256k1.ts';
import { portableSecp256k1 } from './portable-secp256k1.ts';
import type { Secp256k1 } from './types.ts';

/** Chosen once: the native code takes a small part of the time, but its package has no build for some platforms. */
export const secp256k1: Secp256k1 = load();

function load(): Secp256k1 {
  try {
    return loadNativeSecp256k1();
  } catch {
    return portableSecp256k1;
  }
}

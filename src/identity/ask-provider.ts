/** Asks an identity provider once, as a check of the settings does. */
import type { FetchLimits } from './fetch-json.ts';
import { usableKeys } from './key-set.ts';
import { providerKeys } from './provider-keys.ts';

/** Throws what is wrong, as the end of a sentence: the provider does not answer, is another one, or has no usable key. */
export async function askProvider(
  address: { issuer: string; jwksUrl?: string | undefined },
  limits: FetchLimits,
): Promise<void> {
  usableKeys(await providerKeys(address, limits)());
}

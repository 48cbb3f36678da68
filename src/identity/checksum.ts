/** Addresses as answers spell them: with the checksum of EIP-55, so that texts can be compared; a brandId alone is lower case. */
import { getAddress } from 'viem';

export const checksummed = (address: string): `0x${string}` => getAddress(address);

/** The facts of a refusal with every address in that spelling; `brandId` stays as it is. */
export function withChecksums<Facts extends object>(facts: Facts): Facts {
  const spelled = (value: unknown): unknown => {
    if (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)) return checksummed(value);
    if (Array.isArray(value)) return value.map(spelled);
    return typeof value === 'object' && value !== null ? withChecksums(value) : value;
  };
  const all = Object.entries(facts).map(([name, value]) => [
    name,
    name === 'brandId' ? value : spelled(value),
  ]);
  return Object.fromEntries(all) as Facts;
}

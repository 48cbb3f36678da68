/** How the ledger may spell an account: as a user's software wrote it, in lower case, or with the checksum of a derived wallet. */
import { getAddress, type Hex } from 'viem';

export const addressSpellings = (address: Hex): Hex[] => [address.toLowerCase() as Hex, getAddress(address)];

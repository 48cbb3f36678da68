/** Whose gas a call would use: the brand's whose perk is bought, or the brand's of the page where it knows the user. */
import { perkNFTAbi } from '../../chain/contracts/abis.ts';
import { addressSpellings } from '../../chain/contracts/calls/address-spellings.ts';
import { readContract } from '../../chain/contracts/read-contract.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import { brandsOfHost } from '../../ledger/brands/brand-domains.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { brandsThatKnow } from '../../ledger/relay/known-users.ts';
import { createTickDedupe } from '../../lib/batch/tick-dedupe.ts';
import type { Hex } from '../../lib/hex.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

/** What is known of a call and its caller. */
interface Asked {
  /** The perk that the call buys; undefined for other calls. */
  perkId: bigint | undefined;
  /** Host of the page that asks. Any program may name any host. */
  originHost?: string | undefined;
  email?: string | undefined;
  wallets: Hex[];
}

/** Returns the function that asks the chain which brand sells a perk; calls that arrive together ask once for each perk. */
export const createSellerReader = ({ rpc, perks }: { rpc: Rpc; perks: Hex }) =>
  createTickDedupe(async (perkId: bigint): Promise<BrandId> => {
    const call = { address: perks, abi: perkNFTAbi, functionName: 'perkOf', args: [perkId] } as const;
    return (await readContract(rpc, call)).brand.toLowerCase() as BrandId;
  });

/** Undefined: the service pays. Rejects when the node gives no usable answer. */
export async function findPayer(
  { db, readSeller }: { db: Queries; readSeller: ReturnType<typeof createSellerReader> },
  { perkId, originHost, email, wallets }: Asked,
): Promise<BrandId | undefined> {
  if (perkId !== undefined) return readSeller(perkId);
  const brands = originHost === undefined ? [] : await brandsOfHost(db, originHost);
  const addresses = wallets.flatMap(addressSpellings);
  const [known] = await brandsThatKnow(db, brands, { email, addresses });
  return known;
}

/** Whose gas a call uses: the brand whose perk is bought, or the brand of the page where it knows the user, or the service. */
import { perkNFTAbi } from '../../chain/contracts/abis.ts';
import { addressSpellings } from '../../chain/contracts/calls/address-spellings.ts';
import { readContract } from '../../chain/contracts/read-contract.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import { brandsOfHost } from '../../ledger/brands/brand-domains.ts';
import { findBrand } from '../../ledger/brands/brands.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { brandsThatKnow } from '../../ledger/relay/known-users.ts';
import type { GasPayer } from '../../ledger/schema/relay.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

type Hex = `0x${string}`;

/** What is known of a call and its caller. */
interface Asked {
  /** The perk that the call buys; undefined for other calls. */
  perkId: bigint | undefined;
  /** Host of the page that asks. Any program may name any host. */
  originHost?: string | undefined;
  email?: string | undefined;
  wallets: Hex[];
}

/** Rejects when the node gives no usable answer. */
export async function findPayer(
  { db, rpc, perks }: { db: Queries; rpc: Rpc; perks: Hex },
  { perkId, originHost, email, wallets }: Asked,
): Promise<GasPayer> {
  if (perkId !== undefined) {
    const call = { address: perks, abi: perkNFTAbi, functionName: 'perkOf', args: [perkId] } as const;
    const brandId = (await readContract(rpc, call)).brand.toLowerCase() as BrandId;
    return (await findBrand(db, brandId)) ? brandId : 'service';
  }
  const brands = originHost === undefined ? [] : await brandsOfHost(db, originHost);
  const addresses = wallets.flatMap(addressSpellings);
  const [known] = await brandsThatKnow(db, brands, { email, addresses });
  return known ?? 'service';
}

/**
 * Whose gas a call would use: the brand's whose perk is bought, or the brand's of the page where it knows the user; and
 * what the ledger says of them.
 */
import { perkNFTAbi } from '../../chain/contracts/abis.ts';
import { readContract } from '../../chain/contracts/read-contract.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import { addressSpellings } from '../../identity/checksum.ts';
import { readConfiguredBrands } from '../../ledger/brands/brand-configuration.ts';
import { brandsOfHost } from '../../ledger/brands/brand-domains.ts';
import type { Database, Queries } from '../../ledger/database/database.ts';
import { findPerksByTokens, type StoredPerk } from '../../ledger/perks/perks.ts';
import { type GasWallet, readyGasWallets } from '../../ledger/relay/gas-wallets.ts';
import { brandsThatKnow } from '../../ledger/relay/known-users.ts';
import type { GasPayer } from '../../ledger/schema/relay.ts';
import { createBatcher } from '../../lib/batch/batcher.ts';
import { createTickDedupe } from '../../lib/batch/shared-answers.ts';
import type { Hex } from '../../lib/hex.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

/** What is known of a call and its caller. */
interface AskedCall {
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
  { perkId, originHost, email, wallets }: AskedCall,
): Promise<BrandId | undefined> {
  if (perkId !== undefined) return readSeller(perkId);
  const brands = originHost === undefined ? [] : await brandsOfHost(db, originHost);
  const addresses = wallets.flatMap(addressSpellings);
  const [known] = await brandsThatKnow(db, brands, { email, addresses });
  return known;
}

// What the ledger says of those who pay for calls, and of the perks that calls buy: calls that arrive together are
// looked up together.

interface Asked {
  /** Who would pay; undefined: the service. */
  brandId: BrandId | undefined;
  /** The perk that the call buys. */
  perkId: bigint | undefined;
}

interface PayerFacts {
  /** The service, where the ledger does not have the brand. */
  payer: GasPayer;
  /** Undefined: no wallet can send for the payer. */
  wallet: GasWallet | undefined;
  /** What the brand has set, in whole coins of the chain. */
  gasBudget: number | undefined;
  /** Undefined for other calls, and for perks that the catalogue does not have. */
  perk: StoredPerk | undefined;
}

/** Returns the function that looks up one call. */
export function createPayerLookUp({ db, batchMax }: Pick<Database, 'db'> & { batchMax: number }) {
  const batcher = createBatcher<Asked, PayerFacts>({
    maxItems: batchMax,
    async run(asked) {
      const brandIds = [...new Set(asked.flatMap(({ brandId }) => brandId ?? []))];
      const tokenIds = [...new Set(asked.flatMap(({ perkId }) => tokenOf(perkId) ?? []))];
      const [brands, wallets, perks] = await Promise.all([
        brandIds.length > 0 ? readConfiguredBrands(db, brandIds) : [],
        readyGasWallets(db, [...brandIds, 'service']),
        tokenIds.length > 0 ? findPerksByTokens(db, tokenIds) : [],
      ]);
      const brandOf = new Map(brands.map((brand) => [brand.brandId, brand]));
      const walletOf = new Map(wallets.map((wallet) => [wallet.payer, wallet]));
      const perkOf = new Map(perks.map((perk) => [perk.tokenId, perk]));
      return asked.map(({ brandId, perkId }) => {
        const brand = brandId && brandOf.get(brandId);
        const payer = brand ? brand.brandId : 'service';
        return {
          payer,
          // The service's own wallet sends for a brand whose wallet is not ready; the brand's budget counts all the same.
          wallet: walletOf.get(payer) ?? walletOf.get('service'),
          gasBudget: brand?.profile.gasBudget,
          perk: perkOf.get(tokenOf(perkId) ?? -1),
        };
      });
    },
  });
  return batcher.submit;
}

/** The number under which the catalogue may have a perk. */
function tokenOf(perkId: bigint | undefined): number | undefined {
  const tokenId = Number(perkId ?? -1n);
  return Number.isSafeInteger(tokenId) && tokenId >= 0 ? tokenId : undefined;
}

/** What the ledger says of those who pay for calls, and of the perks that calls buy: calls that arrive together are looked up together. */
import { readConfiguredBrands } from '../../ledger/brands/brand-configuration.ts';
import type { Database } from '../../ledger/database/database.ts';
import { findPerksByTokens, type StoredPerk } from '../../ledger/perks/perks.ts';
import { type GasWallet, readyGasWallets } from '../../ledger/relay/gas-wallets.ts';
import type { GasPayer } from '../../ledger/schema/relay.ts';
import { createBatcher } from '../../lib/batch/batcher.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

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

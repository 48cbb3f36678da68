/** Perks and redemptions as an audit reads them. */
import { and, asc, eq, gt, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { KeptConsent } from '../../rules/perks/consent.ts';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { perks, perkTerms, redemptions } from '../schema/engagement/perks.ts';
import { transactions } from '../schema/transactions.ts';
import type { StoredPerk } from './perks.ts';
import type { Redemption } from './redemptions.ts';

/** `isTold`: a block up to the audit's holds all that the contract has to be told of it. */
export type AuditedPerk = StoredPerk & { isTold: boolean };

/** Perks after `after`, by id. */
export async function auditedPerks(
  db: Queries,
  { after, limit, block }: { after: string; limit: number; block: number },
): Promise<AuditedPerk[]> {
  const page = await db.select().from(perks).where(gt(perks.id, after)).orderBy(asc(perks.id)).limit(limit);
  const terms = await inChunks(
    page.map(({ tokenId }) => tokenId),
    (some) =>
      db
        .select({ tokenId: perkTerms.tokenId, outcome: transactions.outcome, in: transactions.blockNumber })
        .from(perkTerms)
        .leftJoin(transactions, eq(transactions.id, perkTerms.transactionId))
        .where(and(inArray(perkTerms.tokenId, some), isNull(perkTerms.failure))),
  );
  const untold = new Set(
    terms
      .filter((one) => one.outcome !== 'done' || one.in === null || one.in > block)
      .map(({ tokenId }) => tokenId),
  );
  return page.map((perk) => ({ ...perk, isTold: !untold.has(perk.tokenId) }));
}

/** Of these transactions, those that told the contract how many of a perk are left: what was sold before counts no more. */
export const stockSetIn = (db: Queries, hashes: `0x${string}`[]) =>
  inChunks(hashes, (some) =>
    db
      .select({ tokenId: perkTerms.tokenId, hash: transactions.hash })
      .from(perkTerms)
      .innerJoin(transactions, eq(transactions.id, perkTerms.transactionId))
      .where(and(eq(perkTerms.kind, 'set'), inArray(transactions.hash, some))),
  );

// Redemptions in pages, to compare them with the chain. Every page is one statement.

/** What the ledger expects under these keys; keys that it does not know are left out. */
export async function expectedRedemptions(db: Queries, keys: Hex[]): Promise<Map<Hex, Redemption>> {
  const rows = await inChunks(keys, (some) =>
    db.select().from(redemptions).where(inArray(redemptions.key, some)),
  );
  return new Map(rows.map((row) => [row.key, row]));
}

/** Redemptions whose transaction a block holds and counts as done, by key; the page after `after`. */
export async function doneRedemptions(
  db: Queries,
  page: { after: string; limit: number },
): Promise<(Redemption & { hash: Hex; blockNumber: number })[]> {
  const rows = await db
    .select({
      redemption: redemptions,
      hash: transactions.hash,
      blockNumber: sql<number>`${transactions.blockNumber}`.mapWith(Number),
    })
    .from(redemptions)
    .innerJoin(transactions, eq(transactions.id, redemptions.transactionId))
    .where(
      and(
        eq(transactions.outcome, 'done'),
        isNotNull(transactions.blockNumber),
        gt(redemptions.key, page.after as Hex),
      ),
    )
    .orderBy(asc(redemptions.key))
    .limit(page.limit);
  return rows.map(({ redemption, hash, blockNumber }) => ({ ...redemption, hash, blockNumber }));
}

/** What a brand's perks have taken or will take of a wallet: as grants, and before anybody was asked. */
export interface CollectedWithoutUser {
  wallet: Hex;
  brandId: BrandId;
  granted: number;
  unasked: number;
}

/** What a page of wallets and brands is ordered by. */
export const placeOfCollected = ({ wallet, brandId }: Pick<CollectedWithoutUser, 'wallet' | 'brandId'>) =>
  `${wallet} ${brandId}`;

/** By wallet and brand; the page after `after`, a place of the one before. */
export async function collectedWithoutUsers(
  db: Queries,
  page: { after: string; limit: number },
): Promise<CollectedWithoutUser[]> {
  const [wallet = '', brandId = ''] = page.after.split(' ');
  const sumOf = (consent: KeptConsent) =>
    sql<number>`sum(case when ${redemptions.consent} = ${consent} then ${redemptions.cost} else 0 end)`.mapWith(
      Number,
    );
  return db
    .select({
      wallet: redemptions.wallet,
      brandId: redemptions.brandId,
      granted: sumOf('grant'),
      unasked: sumOf('unasked'),
    })
    .from(redemptions)
    .leftJoin(transactions, eq(transactions.id, redemptions.transactionId))
    .where(
      and(
        isNull(redemptions.failure),
        or(isNull(transactions.outcome), eq(transactions.outcome, 'done')),
        inArray(redemptions.consent, ['grant', 'unasked']),
        gt(redemptions.cost, 0),
        or(
          gt(redemptions.wallet, wallet as Hex),
          and(eq(redemptions.wallet, wallet as Hex), gt(redemptions.brandId, brandId as BrandId)),
        ),
      ),
    )
    .groupBy(redemptions.wallet, redemptions.brandId)
    .orderBy(asc(redemptions.wallet), asc(redemptions.brandId))
    .limit(page.limit);
}

/** Perks as an audit reads them: what the contract should know of each, and which transactions began to count its stock. */
import { and, asc, eq, gt, inArray, isNull } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/in-chunks.ts';
import { perks, perkTerms } from '../schema/engagement/perks.ts';
import { transactions } from '../schema/transactions.ts';
import type { StoredPerk } from './perks.ts';

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

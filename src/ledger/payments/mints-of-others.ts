/** Mints whose key the sale has used in a transaction that is not ours: sent by hand with the mint key, by whoever has it. */
import { and, eq, gte, isNotNull, isNull } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { Queries } from '../database/database.ts';
import { mints, operatorMints } from '../schema/payments.ts';

/**
 * Notes that a block shows the key as used, so that the mint waits for nothing any more; one that was given up is minted
 * after all. `hash`: of the transaction, null where only the key is known. Keys of nobody's mint change nothing.
 */
export async function noteMintedByOthers(
  tx: Queries,
  shown: readonly { key: Hex; hash: Hex | null; block: number }[],
): Promise<void> {
  for (const { key, hash, block } of shown) {
    const minted = { shownHash: hash, shownBlock: block, failure: null };
    await tx
      .update(mints)
      .set(minted)
      .where(and(eq(mints.key, key), isNull(mints.shownBlock)));
    await tx
      .update(operatorMints)
      .set(minted)
      .where(and(eq(operatorMints.key, key), isNull(operatorMints.shownBlock)));
  }
}

/** Forgets what blocks from `block` on had shown: the chain has others there now, and the mints wait again. */
export async function forgetMintedByOthers(tx: Queries, block: number): Promise<void> {
  for (const table of [mints, operatorMints])
    await tx
      .update(table)
      .set({ shownHash: null, shownBlock: null })
      .where(and(isNotNull(table.shownBlock), gte(table.shownBlock, block)));
}

/** Forgets that others minted in this transaction: it is ours. */
export async function forgetMintedBy(tx: Queries, hash: Hex): Promise<void> {
  for (const table of [mints, operatorMints])
    await tx
      .update(table)
      .set({ shownHash: null, shownBlock: null })
      .where(and(isNotNull(table.shownBlock), eq(table.shownHash, hash)));
}

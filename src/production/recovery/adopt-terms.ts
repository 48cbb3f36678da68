/** Terms of perks that the contract was told of and the ledger has lost. */
import type { LaneCall } from '../../chain/contracts/calls/lane-call.ts';
import type { Queries } from '../../ledger/database/database.ts';
import {
  adoptPerk,
  adoptTerms,
  applyTerms,
  bindWaitingTerms,
  type FoundTerms,
  perkOfToken,
  turnPerkOff,
} from '../../ledger/recovery/adopt-perk-terms.ts';
import { rowsOfRecovery } from '../../ledger/recovery/recoveries.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { type FoundTransaction, note, type RecoveryContext, timeOf } from './context.ts';

type Terms = Extract<LaneCall, { kind: 'perk_terms' }>;

export async function adoptPerkTerms(
  tx: Queries,
  context: RecoveryContext,
  { found, call, transactionId }: { found: FoundTransaction; call: Terms; transactionId: string },
): Promise<void> {
  const { terms } = call;
  if (await bindWaitingTerms(tx, terms, transactionId)) return;
  if (found.succeeded === false) return;
  const createdAt = timeOf(context, found);
  const perk = (await perkOfToken(tx, terms.tokenId)) ?? (await newPerk(tx, context, { terms, createdAt }));
  await adoptTerms(tx, { perk, found: terms }, { transactionId, createdAt });
  await applyTerms(tx, { perk, found: terms });
  const { tokenId, kind, price = null, active = null, stock } = terms;
  const changed = { perk: perk.id, brandId: perk.brandId, tokenId, terms: kind, price, active, stock };
  await note(tx, context, 'perk_terms', transactionId, { ...changed, transaction: found.hash });
}

async function newPerk(
  tx: Queries,
  context: RecoveryContext,
  { terms, createdAt }: { terms: FoundTerms; createdAt: number },
) {
  const { deps, work } = context;
  const { tokenId } = terms;
  const onChain = work.perks.get(tokenId);
  const brandId = terms.brandId ?? (onChain?.brand.toLowerCase() as BrandId);
  const perk = await adoptPerk(tx, {
    id: deps.random.uuid(),
    brandId,
    tokenId,
    cost: terms.price ?? Number(onChain?.price ?? 0n),
    stock: terms.kind === 'set' ? terms.stock : Number(onChain?.stock ?? -1n),
    active: terms.active ?? onChain?.active ?? false,
    createdAt,
  });
  await note(tx, context, 'perk', perk.id, { brandId, tokenId, cost: perk.cost });
  return perk;
}

/** Perks whose constraints were lost are not sold until an operator has looked at them. */
export async function turnNewPerksOff(tx: Queries, { recoveryId, nowMs }: RecoveryContext): Promise<void> {
  const rows = await rowsOfRecovery(tx, recoveryId);
  for (const { kind, detail } of rows) {
    if (kind === 'perk') await turnPerkOff(tx, { tokenId: Number(detail.tokenId), nowMs });
  }
}

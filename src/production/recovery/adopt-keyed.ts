/** Mints and redemptions that the ledger has lost: the chain knows each by its key, and does it once. */
import { permitIdOf } from '../../actions/perks/judge-consent.ts';
import type { LaneCall } from '../../chain/contracts/calls/lane-call.ts';
import { sessionMintKey } from '../../chain/contracts/sale-mint.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { directMints } from '../../ledger/payments/mints.ts';
import { perkOfToken } from '../../ledger/recovery/adopt-perk-terms.ts';
import {
  adoptMint,
  adoptRedemption,
  adoptSessionMint,
  isMintKnown,
  rebindMint,
  rebindRedemption,
  sessionsWithoutMint,
} from '../../ledger/recovery/adopt-queued.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { CODE_DIGITS, confirmationCode } from '../../rules/perks/confirmation-code.ts';
import { usersOf } from './adopt-payout.ts';
import { type FoundTransaction, keyText, note, type RecoveryContext, timeOf } from './context.ts';

type Mint = Extract<LaneCall, { kind: 'mint' }>;
type Redeem = Extract<LaneCall, { kind: 'redeem' }>;

export async function adoptMintOf(
  tx: Queries,
  context: RecoveryContext,
  { found, call, transactionId }: { found: FoundTransaction; call: Mint; transactionId: string },
): Promise<void> {
  const { key, into, recipient, amount } = call;
  if (context.carrierOf(keyText(key)) !== found.hash) return;
  if (await rebindMint(tx, { key, transactionId })) return;
  const createdAt = timeOf(context, found);
  const session = await sessionOf(tx, context, key);
  const detail = { key, kind: into, recipient, amount, transaction: found.hash };
  if (session?.rwtAmount === amount) {
    await adoptSessionMint(tx, { session, key, kind: into, transactionId, createdAt });
    await note(tx, context, 'mint', key, { ...detail, session: session.processorSessionId });
    return;
  }
  const reason = `recovered (${context.recoveryId}): a payment or an operator asked for it, which was lost`;
  await adoptMint(tx, { key, kind: into, recipient, amount, reason, createdAt, transactionId });
  await note(tx, context, 'mint', key, { ...detail, session: null });
}

/** The checkout that a lost mint was for, where the ledger knows it; all of them are read once. */
async function sessionOf(tx: Queries, context: RecoveryContext, key: Mint['key']) {
  if (context.sessions.size === 0) {
    for (const { session } of await sessionsWithoutMint(tx))
      if (session.processorSessionId !== null)
        context.sessions.set(sessionMintKey(session.processorSessionId), session);
  }
  return context.sessions.get(key);
}

/** Mints that no account of ours sent: an operator made them by hand, and their record was lost. */
export async function adoptForeignMints(tx: Queries, context: RecoveryContext): Promise<void> {
  const { activities } = context.work;
  const reason = `recovered (${context.recoveryId}): made by hand, the record of it was lost`;
  const recorded = await directMints(
    tx,
    activities.map(({ transactionHash }) => transactionHash),
  );
  for (const { transactionHash, sales, minted } of activities) {
    let sold = 0n;
    for (const { key, to, intoEscrow, amount } of sales) {
      sold += amount;
      if (await isMintKnown(tx, key)) continue;
      const mint = { key, recipient: to, amount: Number(amount), reason, createdAt: context.nowMs };
      // The mint lane sends what is for a wallet and has no transaction; this one has one, which is no row of the ledger.
      const sent = {
        kind: intoEscrow ? ('sale' as const) : ('wallet' as const),
        transactionId: intoEscrow ? null : transactionHash,
      };
      await adoptMint(tx, { ...mint, ...sent });
      const detail = { key, kind: sent.kind, recipient: to, amount: Number(amount), session: null };
      await note(tx, context, 'mint', key, { ...detail, transaction: transactionHash });
    }
    const past = minted - sold;
    if (past <= 0n || recorded.has(transactionHash)) continue;
    const { token: recipient } = context.deps.facts.contracts;
    const direct = { key: transactionHash, kind: 'direct' as const, recipient, amount: Number(past) };
    await adoptMint(tx, { ...direct, reason, createdAt: context.nowMs, transactionId: null });
    await note(tx, context, 'mint', transactionHash, {
      ...direct,
      session: null,
      transaction: transactionHash,
    });
  }
}

export async function adoptRedemptionOf(
  tx: Queries,
  context: RecoveryContext,
  { found, call, transactionId }: { found: FoundTransaction; call: Redeem; transactionId: string },
): Promise<void> {
  const { key, wallet, tokenId, permit } = call;
  if (context.carrierOf(keyText(key)) !== found.hash) return;
  if (await rebindRedemption(tx, { key, transactionId })) return;
  // What came to nothing was told to its user as such.
  if (found.succeeded === false) return;
  const { deps } = context;
  const createdAt = timeOf(context, found);
  const userKey = (await usersOf(tx, context, { addresses: [wallet], createdAt })).get(wallet) ?? wallet;
  const perk = await perkOfToken(tx, tokenId);
  const debit = found.activity?.redeemed.find((one) => one.key === key);
  const brand = context.work.perks.get(tokenId)?.brand.toLowerCase() as BrandId;
  const id = deps.random.uuid();
  const code = confirmationCode(deps.random.bytes(CODE_DIGITS));
  const brandId = debit?.brandId ?? perk?.brandId ?? brand;
  // The chain shows no other word than a permit.
  const consent = permit ? 'permit' : 'unknown';
  const cost = debit ? Number(debit.amount) : call.cost;
  await adoptRedemption(tx, {
    id,
    key,
    brandId,
    perkId: perk?.id ?? '',
    tokenId,
    userKey,
    userEmail: userKey.includes('@') ? userKey : null,
    wallet,
    cost,
    confirmationCode: code,
    createdAt,
    transactionId,
    consent,
    permit: permit ?? null,
    permitId: permit ? permitIdOf(permit) : null,
  });
  const detail = { key, brandId, tokenId, perk: perk?.name ?? null, userKey, wallet, cost, code };
  await note(tx, context, 'redemption', id, { ...detail, consent, transaction: found.hash });
}

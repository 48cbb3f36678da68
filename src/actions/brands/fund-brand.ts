/** Puts RWT that an operator creates into a brand's escrow, and records why. */
import { operatorMintKey, saleMintData } from '../../chain/contracts/sale-mint.ts';
import { readFact } from '../../ledger/facts.ts';
import { recordMint } from '../../ledger/payments/operator-mints.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { findNamed, invalid, type ManageBrandsDeps, notFound, type Outcome } from './named-brand.ts';

type Hex = `0x${string}`;

export interface FundBrandDeps extends ManageBrandsDeps {
  /** Sends the mint and waits until the ledger has booked it; left out where only the operator can send it. */
  sendMint?: ((mint: { key: Hex; brandId: Hex; amount: number }) => Promise<void>) | undefined;
}

/** `transaction`: of a mint that was made past the sale, which is only recorded. */
export interface FundingWish {
  amount: number;
  reason: string;
  transaction?: Hex | undefined;
}

/**
 * deposited: the brand can pay with it · to_send: the operator has to send the transaction, which mints once however
 * often it is sent · recorded: the named transaction is known from now on.
 */
export interface Funding {
  key: Hex;
  brandId: BrandId;
  amount: number;
  reason: string;
  state: 'deposited' | 'to_send' | 'recorded';
  transaction: { chainId: number; to: Hex; data: Hex } | null;
}

export async function fundBrand(
  deps: FundBrandDeps,
  name: string,
  { amount, reason, transaction }: FundingWish,
): Promise<Outcome<Funding>> {
  const { database, clock, random, sendMint } = deps;
  const brand = await findNamed(database.db, name);
  if (!brand) return notFound(name);
  const { brandId } = brand;
  const recorded = { recipient: brandId, amount, reason, createdAt: clock.now() };
  if (transaction) {
    const key = transaction.toLowerCase() as Hex;
    if (await recordMint(database.db, { ...recorded, key, kind: 'direct' }))
      return { key, brandId, amount, reason, state: 'recorded', transaction: null };
    return invalid([{ setting: 'transaction', message: `${key} is recorded already` }]);
  }
  const facts = await readFact(database.db, 'chain');
  if (!facts) {
    const message = 'the ledger belongs to no chain yet: start the service once, then fund';
    return invalid([{ setting: 'amount', message }]);
  }
  const mint = { key: operatorMintKey(random.uuid()), brandId, amount };
  await recordMint(database.db, { ...recorded, key: mint.key, kind: 'sale' });
  if (sendMint) await sendMint(mint);
  const call = {
    chainId: facts.chainId,
    to: facts.contracts.pointsSale,
    data: saleMintData({ ...mint, kind: 'escrow', recipient: brandId }),
  };
  return sendMint
    ? { ...mint, reason, state: 'deposited', transaction: null }
    : { ...mint, reason, state: 'to_send', transaction: call };
}

/** Puts RWT that an operator creates into a brand's escrow, and records why. */
import { recordMint } from '../../ledger/payments/operator-mints.ts';
import type { Hex } from '../../lib/hex.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { findNamed, invalid, type ManageBrandsDeps, notFound, type Outcome } from '../brands/named-brand.ts';
import { type HandMint, type MintByHandDeps, mintByHand } from './mint-by-hand.ts';

export type FundBrandDeps = ManageBrandsDeps & MintByHandDeps;

/** `transaction`: of a mint that was made without the ledger's knowledge, which is only recorded. */
export interface FundingWish {
  amount: number;
  reason: string;
  transaction?: Hex | undefined;
}

/** deposited: the brand can pay with it · waiting: as for every mint · recorded: the named transaction is known from now on. */
export interface Funding extends Pick<HandMint, 'key' | 'amount' | 'reason' | 'transaction'> {
  brandId: BrandId;
  state: 'deposited' | 'waiting' | 'recorded';
}

export async function fundBrand(
  deps: FundBrandDeps,
  name: string,
  { amount, reason, transaction }: FundingWish,
): Promise<Outcome<Funding>> {
  const brand = await findNamed(deps.database.db, name);
  if (!brand) return notFound(name);
  const { brandId } = brand;
  const wish = { recipient: brandId, amount, reason };
  if (transaction) {
    const key = transaction.toLowerCase() as Hex;
    const recorded = { ...wish, key, kind: 'direct', createdAt: deps.clock.now() } as const;
    if (await recordMint(deps.database.db, recorded))
      return { key, brandId, amount, reason, state: 'recorded', transaction: null };
    return invalid([{ setting: 'transaction', message: `${key} is recorded already` }]);
  }
  const minted = await mintByHand(deps, { ...wish, kind: 'escrow' });
  if ('problems' in minted) return invalid(minted.problems);
  const { key, state, transaction: call, failure } = minted;
  if (state === 'given_up')
    throw new Error(`the mint into the escrow of ${brandId} was given up: ${failure}`);
  return { key, brandId, amount, reason, state: state === 'minted' ? 'deposited' : state, transaction: call };
}

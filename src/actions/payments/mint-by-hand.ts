/**
 * RWT that an operator creates, also straight into a brand's funds: recorded with its reason, and minted once by the
 * same lane as payments.
 */
import { operatorMintKey, saleMintData } from '../../chain/contracts/sale-mint.ts';
import type { MintWaiters } from '../../chain/waiting/mint-waiters.ts';
import type { Database } from '../../ledger/database/database.ts';
import { type Facts, readFact } from '../../ledger/facts.ts';
import { isMinted, recordMint } from '../../ledger/payments/mints.ts';
import type { MintKind } from '../../ledger/schema/payments.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Hex } from '../../lib/hex.ts';
import type { Random } from '../../lib/ids.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { SettingProblem } from '../../rules/brands/settings.ts';
import { findNamed, invalid, type ManageBrandsDeps, notFound, type Outcome } from '../brands/named-brand.ts';

export interface MintByHandDeps {
  database: Database;
  clock: Clock;
  random: Random;
  /** The mint lane, where this process may wait for it; without it the row waits for a service. */
  mints?: (Pick<MintWaiters, 'waitForOperator'> & { nudge(): void }) | undefined;
}

export interface HandMintWish {
  kind: MintKind;
  /** The account for kind wallet, else the brand. */
  recipient: Hex;
  /** Whole RWT. */
  amount: number;
  reason: string;
}

/**
 * minted: a block shows it · waiting: the mint lane sends it, or an account that may mint sends `transaction`; both
 * together mint once · given_up: the call can never run, for the reason in `failure`.
 */
export interface HandMint extends HandMintWish {
  key: Hex;
  state: 'minted' | 'waiting' | 'given_up';
  failure: string | null;
  /** Of the transaction that minted it. */
  hash: Hex | null;
  transaction: { chainId: number; to: Hex; data: Hex } | null;
}

/** A block comes within seconds; the mint goes on when the caller stops waiting. */
const WAIT_MS = 10_000;

/** Records the mint, then waits for it where the mint lane is near. */
export async function mintByHand(
  deps: MintByHandDeps,
  wish: HandMintWish,
): Promise<HandMint | { problems: SettingProblem[] }> {
  const { database, clock, random, mints } = deps;
  const chain = await readFact(database.db, 'chain');
  if (!chain) {
    const message = 'the ledger belongs to no chain yet: start the service once, then mint';
    return { problems: [{ setting: 'amount', message }] };
  }
  const problem = wish.kind === 'wallet' ? recipientProblem(chain, wish.recipient) : undefined;
  if (problem) return { problems: [problem] };
  const key = operatorMintKey(random.uuid());
  await recordMint(database.db, { ...wish, key, createdAt: clock.now() });
  mints?.nudge();
  const progress = await mints?.waitForOperator({ key, timeoutMs: WAIT_MS });
  const failure = progress?.failure ?? null;
  const minted = { ...wish, key, failure, hash: progress?.hash ?? null };
  if (progress && isMinted(progress)) return { ...minted, state: 'minted', transaction: null };
  if (failure !== null) return { ...minted, state: 'given_up', transaction: null };
  const data = saleMintData({ ...wish, key });
  const transaction = { chainId: chain.chainId, to: chain.contracts.pointsSale, data };
  return { ...minted, state: 'waiting', transaction };
}

/** What the sale would say: RWT at these addresses would belong to nobody. */
function recipientProblem({ contracts }: Facts['chain'], recipient: Hex): SettingProblem | undefined {
  const { token, escrow, pointsSale } = contracts;
  const names = { token, escrow, pointsSale, 'the address of nobody': `0x${'0'.repeat(40)}` };
  const named = Object.entries(names).find(([, one]) => one.toLowerCase() === recipient.toLowerCase());
  if (!named) return undefined;
  const whose = named[0].includes(' ') ? named[0] : `the ${named[0]} contract`;
  return { setting: 'to', message: `${recipient} is ${whose}: RWT there would belong to nobody` };
}

// Puts RWT that an operator creates into a brand's escrow, and records why.

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

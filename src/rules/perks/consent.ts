/**
 * Whose RWT a redemption may spend, and on whose word: the only way from a request to a collection. A user's access token
 * or permit spends up to their balance. Without either, a brand gets back at most what its escrow has paid that user and the
 * user has not spent since.
 */

import type { Hex } from '../../lib/hex.ts';
import { brandSpec, type ValueOf } from '../brands/spec.ts';

/** What pays a redemption: the user's access token, the user's permit, or what the brand itself has paid the user. */
export type Consent = 'token' | 'permit' | 'grant';

/** `unasked`: admitted before anybody was asked. `unknown`: the ledger lost the redemption and got it back from the chain. */
export type KeptConsent = Consent | 'unasked' | 'unknown';

/** The brand setting `redemptions`. */
export type RedemptionsSetting = ValueOf<typeof brandSpec.redemptions>;

/** As a brand has set it; one that was made before the setting existed has its default. */
export const redemptionsOf = (profile: {
  redemptions?: RedemptionsSetting | undefined;
}): RedemptionsSetting => profile.redemptions ?? brandSpec.redemptions.default;

/** The user whom an access token speaks for. */
export interface TokenUser {
  /** Proven by the identity provider, in the ledger's form. */
  email?: string | undefined;
  /** Lower case. */
  wallets: readonly Hex[];
}

/** The caller of a redemption. */
export interface Asker {
  /** The request carries the key of the brand whose perk it is about. */
  withBrandKey: boolean;
  /** The page that sent it, where a browser says so. */
  origin: string | undefined;
  tokenUser: TokenUser | undefined;
  /** Whether the body has a permit; what it is worth is judged with the wallet at hand. */
  withPermit: boolean;
}

export type AskerRefusal =
  | { code: 'brand_key_required'; brandId: string }
  | { code: 'origin_not_allowed'; brandId: string; origin: string };

/** Why nothing of this kind may be asked for; undefined where the user themself or the brand's setting allows it. */
export function refuseAsker(
  { brandId, redemptions }: { brandId: string; redemptions: RedemptionsSetting },
  asker: Asker,
  isPageOfBrand: (origin: string) => boolean,
): AskerRefusal | undefined {
  if (asker.withBrandKey || asker.tokenUser || asker.withPermit) return undefined;
  if (redemptions === 'key') return { code: 'brand_key_required', brandId };
  const { origin } = asker;
  if (redemptions === 'open' && origin !== undefined && !isPageOfBrand(origin))
    return { code: 'origin_not_allowed', brandId, origin };
  return undefined;
}

/** The user whom a request names, and the wallet that would be debited; lower case. */
export interface NamedUser {
  userKey: string;
  userAddress: Hex | undefined;
  wallet: Hex;
}

/**
 * Whether the token's subject is the named user: by their wallet, or by their proven e-mail. An e-mail at `ownDomain` proves
 * nothing: whoever reads a mailbox there is not the chat user whose stand-in it is.
 */
export function isTokenOf({ email, wallets }: TokenUser, named: NamedUser, ownDomain: string): boolean {
  if (wallets.includes(named.wallet)) return true;
  if (named.userAddress !== undefined || email === undefined) return false;
  return email === named.userKey && !email.endsWith(`@${ownDomain.toLowerCase()}`);
}

/** A user's EIP-2612 permit; addresses in lower case. */
export interface SpendingPermit {
  owner: Hex;
  spender: Hex;
  value: bigint;
  deadlineSeconds: bigint;
}

/** What the chain says of a permit: unused, used with this much left, or not signed by its owner for the present nonce. */
export type PermitStanding =
  | { state: 'fresh' }
  | { state: 'used'; allowance: bigint }
  | { state: 'not_signed' };

export type PermitProblem =
  | 'not_supported'
  | 'not_of_wallet'
  | 'wrong_spender'
  | 'too_small'
  | 'not_signed'
  | 'expired'
  | 'used_up'
  | 'paid_before';

/** Why a permit does not pay; undefined when it does. `holdsUntilMs`: until then it must be valid. */
export function refusePermit(
  { permit, standing }: { permit: SpendingPermit; standing: PermitStanding },
  of: { wallet: Hex; escrow: Hex; cost: number; holdsUntilMs: number },
): PermitProblem | undefined {
  const cost = BigInt(of.cost);
  if (permit.owner !== of.wallet) return 'not_of_wallet';
  if (permit.spender !== of.escrow) return 'wrong_spender';
  if (permit.value < cost) return 'too_small';
  if (standing.state === 'not_signed') return 'not_signed';
  // The deadline of a permit that was used already does not matter.
  if (standing.state === 'used') return standing.allowance < cost ? 'used_up' : undefined;
  return permit.deadlineSeconds * 1_000n < BigInt(of.holdsUntilMs) ? 'expired' : undefined;
}

/** What is known of a wallet's RWT at one brand, in whole RWT. */
export interface Grant {
  /** What the brand's escrow has paid the user, as blocks show it. */
  paid: number;
  /** What the brand's perks have taken or will take. */
  collected: number;
  /** What the user has spent elsewhere on their own word. */
  spentElsewhere: number;
}

/** What a brand may collect without the user. What the user spent elsewhere is taken off what every brand has paid. */
export const unspentOf = ({ paid, collected, spentElsewhere }: Grant): number =>
  Math.max(0, paid - collected - spentElsewhere);

declare const agreed: unique symbol;
/** A word on which RWT of `wallet` may be collected. Nothing but `agreeOn` makes one, and no redemption is admitted without. */
export interface Agreement {
  readonly consent: Consent;
  readonly wallet: Hex;
  readonly [agreed]: true;
}

export type ConsentRefusal =
  | { code: 'not_the_tokens_user' }
  | { code: 'permit_refused'; problem: PermitProblem }
  | { code: 'consent_required'; collectable: number };

/**
 * On whose word a redemption is paid, or why on nobody's. `permit`: judged by `refusePermit`. `isUser`: false for a wallet of a
 * brand, of the service or of its contracts, of which nothing is collected without its owner. A grant is looked at again in the
 * commit that admits the redemption.
 */
export function agreeOn(
  { asker, redemptions }: { asker: Asker; redemptions: RedemptionsSetting },
  about: {
    named: NamedUser;
    ownDomain: string;
    cost: number;
    permit: { problem: PermitProblem | undefined } | undefined;
    isUser: boolean;
    grant: Grant;
  },
): { agreement: Agreement } | { refusal: ConsentRefusal } {
  const { named, ownDomain, cost, permit, isUser, grant } = about;
  const on = (consent: Consent) => ({ agreement: { consent, wallet: named.wallet } as Agreement });
  const { tokenUser } = asker;
  if (tokenUser && !isTokenOf(tokenUser, named, ownDomain))
    return { refusal: { code: 'not_the_tokens_user' } };
  if (permit?.problem) return { refusal: { code: 'permit_refused', problem: permit.problem } };
  if (permit) return on('permit');
  if (tokenUser) return on('token');
  const mayCollect = redemptions !== 'token' && isUser;
  const collectable = mayCollect ? unspentOf(grant) : 0;
  if (redemptions === 'token' || cost > collectable)
    return { refusal: { code: 'consent_required', collectable } };
  return on('grant');
}

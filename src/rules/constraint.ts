/** What a perk may ask of its buyer beside the price: constraints, all of which must hold (joined by AND). */
import { parseUrl } from '../lib/url.ts';

export type Constraint =
  /** The brand's own server says yes or no; its answer is kept for `ttlSeconds`. */
  | { type: 'external_api'; url: string; ttlSeconds: number }
  /** The buyer holds another perk of the brand, by its id in the catalogue. */
  | { type: 'has_perk'; perkId: string }
  /** The buyer has at least this level in the brand's chat on a platform such as `discord`. */
  | { type: 'chat_level'; platform: string; level: number }
  /** The buyer has this role there. */
  | { type: 'chat_role'; platform: string; role: string };

export const constraintTypes = ['external_api', 'has_perk', 'chat_level', 'chat_role'] as const;

/** Contract: the cache refreshes on the TTL set in the constraint. */
export const TTL_DEFAULT_SECONDS = 60;
/** A day: an answer that is older says little about the buyer of now. */
export const TTL_MAX_SECONDS = 86_400;
/** Each of them costs a purchase a question to somebody else. */
export const CONSTRAINTS_MAX = 10;
/** An index of the ledger has the URL in it, and Postgres indexes 2,700 bytes at most. */
export const CONSTRAINT_URL_MAX = 1_024;
/** Higher than any chat counts. */
export const LEVEL_MAX = 1_000_000;
/** Ids of roles are short; their names may be sentences. */
export const ROLE_MAX = 100;

/** A constraint that a buyer does not meet, or that could not be looked at: then nothing is sold either. */
export interface UnmetConstraint {
  type: Constraint['type'];
  reason: UnmetReason;
  /** One sentence for the buyer, without its full stop. */
  message: string;
}

type UnmetReason =
  | 'external_api_refused'
  | 'external_api_unavailable'
  | 'perk_missing'
  | 'perk_unknown'
  | 'chat_level_too_low'
  | 'chat_role_missing'
  | 'chat_unavailable';

/** The buyer, and what is bought. */
export interface ConstrainedPurchase {
  brandId: `0x${string}`;
  /** The perk's id on chain. */
  tokenId: number;
  constraints: readonly Constraint[];
  buyer: {
    /** Lower case. */
    address: `0x${string}`;
    /** Absent when only the address is known; then the ledger is asked whose wallet it is. */
    userKey?: string | undefined;
  };
}

/**
 * Every constraint that the buyer does not meet; an empty list: they may buy. A server that does not answer leaves its
 * constraint unmet; the promise rejects when no node of the chain answers.
 */
export type CheckConstraints = (purchase: ConstrainedPurchase) => Promise<UnmetConstraint[]>;

/** What keeps a text from being the URL of an `external_api`, as a sentence without its subject. */
export function refuseConstraintUrl(text: string): string | undefined {
  if (text.length > CONSTRAINT_URL_MAX) return `must have at most ${CONSTRAINT_URL_MAX} characters`;
  const url = parseUrl(text);
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an https URL';
  if (url.username || url.password) return 'must have no user name or password in it';
  return undefined;
}

/** A URL as results are kept under it: however it is spelled, one URL is one key. Undefined for what is not a URL. */
export function constraintUrlKey(text: string): string | undefined {
  return refuseConstraintUrl(text) === undefined ? parseUrl(text)?.href : undefined;
}

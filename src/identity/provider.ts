/** Tokens of a real identity provider, verified by the keys that it publishes. */
import type { Queries } from '../ledger/database/database.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { jwksVerifier, type TokenSettings } from './jwks.ts';
import { createKeySet, type KeySetSettings } from './key-set.ts';
import { type FetchLimits, providerKeys } from './provider-keys.ts';
import { walletsByClaim } from './token-wallets.ts';
import type { TokenVerifier } from './tokens.ts';

interface ProviderSettings {
  keys: KeySetSettings;
  fetch: FetchLimits;
  tokens: TokenSettings;
  /** Replaces the address that the discovery document names. */
  jwksUrl?: string | undefined;
  /** Which claim names the user's accounts; `email`: the ledger's own wallet of that user. */
  walletClaim: string;
  /** Domain of the stand-in e-mails of chat users. */
  ownDomain: string;
}

/** Fetches nothing before the first token or the first call of `ready`. */
export function providerTokens(
  deps: { db: Queries; clock: Pick<Clock, 'now'>; realClock: Pick<Clock, 'now'>; log: Log },
  settings: ProviderSettings,
): TokenVerifier {
  const { issuer } = settings.tokens;
  const load = providerKeys({ issuer, jwksUrl: settings.jwksUrl }, settings.fetch);
  const keys = createKeySet({ load, clock: deps.realClock, log: deps.log }, settings.keys);
  const walletsOf = walletsByClaim(deps.db, { claim: settings.walletClaim, ownDomain: settings.ownDomain });
  return jwksVerifier({ keys, clock: deps.clock, walletsOf }, settings.tokens);
}

/** Tokens and wallets of users over the control API. */
import * as tokens from '../../actions/wallets/issue-token.ts';
import * as wallets from '../../actions/wallets/show-wallet.ts';
import {
  issueToken,
  LIFETIME_MUST_BE,
  rotateTokenKeys,
  showWallet,
  verifyToken,
} from '../../contract/control/users.ts';
import { checksummed } from '../../identity/checksum.ts';
import type { TokenVerifier } from '../../identity/tokens.ts';
import type { Database } from '../../ledger/database/database.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

export interface ControlTokensDeps extends tokens.IssueTokenDeps {
  verifier: TokenVerifier;
  /** The longest life of a token that is still taken at its end. */
  lifetimeMaxMs: number;
  /** Lets the verifier see keys that have just changed. */
  refreshKeys: () => Promise<void>;
}

export const controlTokens = (deps: ControlTokensDeps): ControlRoute[] => [
  controlHandler(issueToken, async ({ body: { user: email, expires: lifetimeMs, audience } }) => {
    if (lifetimeMs > deps.lifetimeMaxMs) {
      const problems = [{ setting: 'expires', message: LIFETIME_MUST_BE }];
      return { refusal: { code: 'invalid_settings', problems } };
    }
    const { token, address, expiresAtMs } = await tokens.issueToken(deps, { email, lifetimeMs, audience });
    return { token, address: checksummed(address), expiresAt: instant(expiresAtMs) };
  }),
  controlHandler(verifyToken, async ({ body: { token } }) => {
    const verdict = await deps.verifier.verify(`Bearer ${token}`);
    const now = instant(deps.clock.now());
    if ('refusal' in verdict) {
      const { code: reason, message } = verdict.refusal;
      return { verifies: false, now, user: null, reason, message };
    }
    return { verifies: true, now, user: { email: null, ...verdict }, reason: null, message: null };
  }),
  controlHandler(rotateTokenKeys, async ({ body: { revoke } }) => {
    const { keyId, published } = await deps.issuer.rotate({ revoke });
    await deps.refreshKeys();
    return { keyId, published };
  }),
];

export interface ControlWalletsDeps {
  database: Database;
  /** Domain under which users of chat platforms have their stand-in e-mail. */
  ownDomain: string;
}

export const controlWallets = (deps: ControlWalletsDeps): ControlRoute[] => [
  controlHandler(showWallet, async ({ path: { user } }) => {
    const found = await wallets.showWallet(deps, user);
    if (!found) return { refusal: { code: 'wallet_not_found', user } };
    const { wallet, identities } = found;
    return {
      user: wallet.userKey,
      address: checksummed(wallet.address),
      index: wallet.derivationIndex,
      createdAt: instant(wallet.createdAt),
      identities: identities.map(({ provider, providerUserId, username, idpUserId, createdAt }) => ({
        provider,
        providerUserId,
        username,
        idpUserId,
        createdAt: instant(createdAt),
      })),
    };
  }),
];

const instant = (ms: number) => new Date(ms).toISOString();

/** Tokens, wallets and other names of users over the control API. */
import * as aliases from '../../actions/brands/alias-users.ts';
import type { ManageBrandsDeps } from '../../actions/brands/named-brand.ts';
import * as users from '../../actions/show-user.ts';
import * as tokens from '../../actions/wallets/issue-token.ts';
import { showWallet as findWallet, type WalletDetail } from '../../actions/wallets/show-wallet.ts';
import { aliasUser, listAliases, removeAlias, type ShownAlias } from '../../contract/control/aliases.ts';
import {
  issueToken,
  LIFETIME_MUST_BE,
  listUsers,
  rotateTokenKeys,
  type ShownUser,
  showUser,
  showWallet,
  verifyToken,
} from '../../contract/control/users.ts';
import { checksummed } from '../../identity/checksum.ts';
import type { TokenVerifier } from '../../identity/tokens.ts';
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

export type ControlWalletsDeps = users.ShowUserDeps;

export const controlWallets = (deps: ControlWalletsDeps): ControlRoute[] => [
  controlHandler(showWallet, async ({ path: { user } }) => {
    const found = await findWallet(deps, user);
    if (!found) return { refusal: { code: 'wallet_not_found', user } };
    return walletReply(found);
  }),
  controlHandler(listUsers, async ({ query }) => {
    const found = await users.listUsers(deps, query);
    if ('refusal' in found) return found;
    return {
      more: found.more,
      users: found.users.map(({ userKey, address, createdAt }) => ({
        user: userKey,
        address: checksummed(address),
        createdAt: instant(createdAt),
      })),
    };
  }),
  controlHandler(showUser, async ({ path: { user } }) => {
    const found = await users.showUser(deps, user);
    return found ? userReply(found) : { refusal: { code: 'wallet_not_found', user } };
  }),
];

const instant = (ms: number) => new Date(ms).toISOString();

const walletReply = ({ wallet, identities }: WalletDetail) => ({
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
});

const instantOrNull = (ms: number | null) => (ms === null ? null : instant(ms));

const userReply = (found: users.UserDetail): ShownUser => ({
  ...walletReply(found),
  rwt: Number(found.balance),
  brands: found.brands.map(({ streak, claims, ...brand }) => ({
    ...brand,
    streak: streak
      ? {
          current: streak.currentStreak,
          longest: streak.longestStreak,
          multiplier: streak.multiplier,
          checkedInToday: streak.checkedInToday,
          lastActivityAt: instantOrNull(streak.lastActivityAt),
          today: streak.today,
          activeDays: streak.activeDays,
        }
      : null,
    claims: claims.map(({ lastAt, againAt, ...claim }) => ({
      ...claim,
      lastAt: instant(lastAt),
      againAt: instantOrNull(againAt),
    })),
  })),
  rewards: found.rewards.map(({ createdAt, ...reward }) => ({ ...reward, at: instant(createdAt) })),
});

/** Other names of a brand's users over the control API. */
export const controlAliases = (deps: ManageBrandsDeps): ControlRoute[] => [
  controlHandler(listAliases, async ({ path, query }) => {
    const found = await aliases.showAliases(deps, path.name, query.after);
    return 'refusal' in found ? found : { aliases: found.aliases.map(aliasReply), more: found.more };
  }),
  controlHandler(aliasUser, async ({ path, body }) => {
    const made = await aliases.aliasUser(deps, path.name, body);
    return 'refusal' in made ? made : aliasReply(made);
  }),
  controlHandler(removeAlias, ({ path }) => aliases.removeAlias(deps, path)),
];

const spelled = (address: `0x${string}` | null) => (address === null ? null : checksummed(address));

const aliasReply = ({
  aliasKey,
  userKey,
  createdAt,
  aliasWallet,
  userWallet,
}: aliases.ShownAlias): ShownAlias => ({
  alias: aliasKey,
  user: userKey,
  since: new Date(createdAt).toISOString(),
  aliasWallet: spelled(aliasWallet),
  userWallet: spelled(userWallet),
});

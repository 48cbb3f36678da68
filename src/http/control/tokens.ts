/** Tokens over the control API: issue one for a user, tell whether one is taken, change the keys. */
import type { Handler } from 'hono';
import { type IssueTokenDeps, issueToken } from '../../actions/wallets/issue-token.ts';
import { checksummed } from '../../identity/checksum.ts';
import type { TokenVerifier } from '../../identity/tokens.ts';
import { parseDuration } from '../../lib/duration.ts';
import { readSingle, type SettingProblem, type Settings } from '../../rules/brands/settings.ts';
import { emailKey } from '../../rules/user-key.ts';
import { readSettings, refuse } from './refuse.ts';

export interface ControlTokensDeps extends IssueTokenDeps {
  verifier: TokenVerifier;
  /** The longest life of a token that is still taken at its end. */
  lifetimeMaxMs: number;
  /** Lets the verifier see keys that have just changed. */
  refreshKeys: () => Promise<void>;
}

const LIFETIME_DEFAULT_MS = 3_600_000;
const LIFETIME_MIN_MS = 1_000;

export function controlTokens(deps: ControlTokensDeps): Record<string, Handler> {
  return {
    async issueToken(context) {
      const body = await readSettings(context);
      if (!body) return refuse(context, { code: 'invalid_body' });
      const wish = tokenWish(deps, body);
      if ('problems' in wish) return refuse(context, { code: 'invalid_settings', problems: wish.problems });
      const { token, address, expiresAtMs } = await issueToken(deps, wish);
      return context.json(
        { token, address: checksummed(address), expiresAt: new Date(expiresAtMs).toISOString() },
        201,
      );
    },
    async verifyToken(context) {
      const body = await readSettings(context);
      if (!body) return refuse(context, { code: 'invalid_body' });
      const { token } = body;
      if (typeof token !== 'string')
        return refuse(context, {
          code: 'invalid_settings',
          problems: [{ setting: 'token', message: 'must be a text' }],
        });
      const answer = await deps.verifier.verify(`Bearer ${token}`);
      const now = new Date(deps.clock.now()).toISOString();
      return 'refusal' in answer
        ? context.json({
            verifies: false,
            now,
            user: null,
            reason: answer.refusal.code,
            message: answer.refusal.message,
          })
        : context.json({
            verifies: true,
            now,
            user: { email: null, ...answer },
            reason: null,
            message: null,
          });
    },
    async rotateTokenKeys(context) {
      const body = await readSettings(context);
      if (!body) return refuse(context, { code: 'invalid_body' });
      const { revoke = false } = body;
      if (typeof revoke !== 'boolean')
        return refuse(context, {
          code: 'invalid_settings',
          problems: [{ setting: 'revoke', message: 'must be true or false' }],
        });
      const { keyId, published } = await deps.issuer.rotate({ revoke });
      await deps.refreshKeys();
      return context.json({ keyId, published });
    },
  };
}

function tokenWish(
  { lifetimeMaxMs }: ControlTokensDeps,
  { user, expires, audience, ...rest }: Settings,
): { email: string; lifetimeMs: number; audience: string | undefined } | { problems: SettingProblem[] } {
  const email = typeof user === 'string' ? emailKey(user) : undefined;
  const lifetimeMs =
    expires === undefined
      ? LIFETIME_DEFAULT_MS
      : typeof expires === 'string'
        ? parseDuration(expires)
        : undefined;
  const wanted = audience === undefined ? undefined : readSingle({ kind: 'text', most: 255 }, audience);
  const problems: SettingProblem[] = Object.keys(rest).map((setting) => ({ setting, message: 'is unknown' }));
  if (email === undefined) problems.push({ setting: 'user', message: 'must be an e-mail address' });
  if (lifetimeMs === undefined || lifetimeMs < LIFETIME_MIN_MS || lifetimeMs > lifetimeMaxMs)
    problems.push({ setting: 'expires', message: 'must be a duration from 1s to 30d, such as 15m or 1h' });
  if (wanted && 'expected' in wanted) problems.push({ setting: 'audience', message: wanted.expected });
  if (problems.length > 0 || email === undefined || lifetimeMs === undefined) return { problems };
  return { email, lifetimeMs, audience: wanted && 'value' in wanted ? wanted.value : undefined };
}

/** A user as people name them, an e-mail, an address or an account such as `discord:123`, in the fields of the hosts. */
import { platformName } from '../rules/platforms.ts';

/** What comes before the first colon is a platform, known or not; an e-mail has a colon only in a quoted local part. */
export function accountIn(user: string): { platform: string; id: string } | undefined {
  const [, platform, id] = /^([\w-]+):(.*)$/s.exec(user) ?? [];
  return platform === undefined || id === undefined ? undefined : { platform: platformName(platform), id };
}

/** For the services host. */
export function personOf(user: string): { userIdentifier: string; platform?: string } {
  const account = accountIn(user);
  return account ? { userIdentifier: account.id, platform: account.platform } : { userIdentifier: user };
}

/** For pregenerate-user. */
export function registrationOf(user: string, username?: string): Record<string, string> {
  const account = accountIn(user);
  if (!account) return { email: user };
  const named = username === undefined ? undefined : { oauth_username: username };
  return { oauth_provider: account.platform, oauth_user_id: account.id, ...named };
}

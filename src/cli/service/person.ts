/** A user as people name them on the command line, in the fields of the services host. */
import { platformName } from '../../rules/platforms.ts';

/** An account such as `discord:123` is an id on a platform; an e-mail has a colon only in a quoted local part. */
export function personOf(user: string): { userIdentifier: string; platform?: string } {
  const [, platform, id] = /^([\w-]+):(.+)$/.exec(user) ?? [];
  return platform && id ? { userIdentifier: id, platform: platformName(platform) } : { userIdentifier: user };
}

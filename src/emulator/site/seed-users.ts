/** The fixture's users on the demo site. */
import type { Log } from '../../lib/log.ts';
import type { Site } from '../../site/create-site.ts';
import type { FixtureUser } from '../fixture/fixture.ts';

/** Adds those that the site does not have; the others stay as they are, since they may have changed their passwords. */
export async function seedUsers(
  { log, accounts }: { log: Log; accounts: Site['accounts'] },
  users: readonly FixtureUser[],
): Promise<void> {
  for (const { email, login, password, applicationPassword, role } of users) {
    if (accounts.findUser(login) ?? accounts.findUser(email)) continue;
    const displayName = `${login.charAt(0).toUpperCase()}${login.slice(1)}`;
    const added = await accounts.addUser({ login, email, displayName, password, role });
    if ('user' in added) accounts.addApplicationPassword(login, 'fixture', applicationPassword);
    else {
      const reasons = added.problems.map(({ message }) => message).join(' ');
      log.warn({ login }, `a user of the fixture cannot log in to the site: ${reasons}`);
    }
  }
}

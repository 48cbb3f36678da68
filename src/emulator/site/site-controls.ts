/** What the control API and the commands do with the demo site. */
import type { ControlSiteDeps } from '../../http/control/site.ts';
import type { Site } from '../../site/create-site.ts';
import { hooks } from '../../site/plugin/hooks.ts';

/** `open` builds the site, at the first call. */
export function siteControls(open: () => Promise<Site>): ControlSiteDeps {
  return {
    async hooks() {
      const { plugin } = await open();
      const listed = plugin.settings.read().events.map(({ hook }) => hook);
      return [...new Set([...Object.keys(hooks), ...listed])];
    },
    async emailOf(user) {
      const { accounts } = await open();
      return accounts.findUser(user)?.email ?? (user.includes('@') ? user : undefined);
    },
    async fire(hook, occurrence) {
      const { plugin } = await open();
      const following = plugin.settings.read().events.filter((event) => event.enabled && event.hook === hook);
      const calls = await plugin.fire(hook, occurrence);
      return { events: following.map(({ eventName }) => eventName), calls };
    },
    async test(wish) {
      const { plugin, accounts } = await open();
      const email = wish.email ?? accounts.users()[0]?.email;
      const eventName = wish.eventName ?? usualTest(plugin.settings.read().events);
      if (email === undefined || eventName === undefined) return undefined;
      return { ...(await plugin.testConnection({ email, eventName })), email };
    },
    users: async () => (await open()).accounts.users(),
    async addUser({ displayName, password, ...wish }) {
      const { accounts } = await open();
      const added = await accounts.addUser({ ...wish, displayName: displayName ?? wish.login, password });
      if ('user' in added) return added.user;
      return { problems: added.problems.map(({ field, message }) => ({ setting: field, message })) };
    },
    async addApplicationPassword(user, name) {
      const { accounts } = await open();
      const login = accounts.findUser(user)?.login;
      const password = login === undefined ? undefined : accounts.addApplicationPassword(login, name);
      return login === undefined || password === undefined ? undefined : { login, password };
    },
  };
}

/** A daily visit can be sent again and again; most others are rewarded once. */
function usualTest(events: ReturnType<Site['plugin']['settings']['read']>['events']): string | undefined {
  const enabled = events.filter((event) => event.enabled);
  return (enabled.find(({ hook }) => hook === 'page_load') ?? enabled[0])?.eventName;
}

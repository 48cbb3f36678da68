/** The control API's part for the demo site: its hooks, its connection test and its users. */
import type {
  NewSiteUserWish,
  SiteApplicationPasswordBody,
  SiteHookBody,
  SiteTestBody,
  SiteUserBody,
} from './bodies.ts';
import type { ControlSend } from './control-send.ts';

export const siteCalls = (send: ControlSend) => ({
  /** `user` is an e-mail, or a login of the site. Resolves when the events that follow were answered. */
  fire: (hook: string, occurrence: { user: string; metadata?: Record<string, unknown> | undefined }) =>
    send<SiteHookBody>('POST', `/site/hooks/${encodeURIComponent(hook)}`, occurrence),
  /** Sends a real event; without a name, one of the site's for its first user. */
  test: (wish: { email?: string | undefined; eventName?: string | undefined }) =>
    send<SiteTestBody>('POST', '/site/test', wish),
  users: () => send<{ users: SiteUserBody[] }>('GET', '/site/users'),
  addUser: (wish: NewSiteUserWish) => send<SiteUserBody>('POST', '/site/users', wish),
  /** `user` is a login or an e-mail; the answer has the password, which is shown only once. */
  addApplicationPassword: (user: string, name: string) =>
    send<SiteApplicationPasswordBody>(
      'POST',
      `/site/users/${encodeURIComponent(user)}/application-passwords`,
      { name },
    ),
});

/** The demo site over the control API. */
import type { InputOf } from '../../contract/control/control-endpoint.ts';
import type { ControlRefusal } from '../../contract/control/refusals/control-refusals.ts';
import {
  addSiteApplicationPassword,
  addSiteUser,
  fireSiteHook,
  listSiteUsers,
  type SiteUser,
  testSite,
} from '../../contract/control/site.ts';
import type { SettingProblem } from '../../rules/brands/settings.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

/** What became of one event of the site. `status` 0: the service gave no answer. */
interface EventCall {
  eventName: string;
  success: boolean;
  status: number;
  message: string;
  reward?: number | undefined;
}

/** The site, as far as the control API reaches into it. It is built at the first call. */
export interface ControlSiteDeps {
  /** Those that the site fires, and those of its settings. */
  hooks(): Promise<readonly string[]>;
  /** The e-mail of a user by login or e-mail; an e-mail that no user has counts too. */
  emailOf(user: string): Promise<string | undefined>;
  /** `events`: those that follow the hook. */
  fire(
    hook: string,
    occurrence: { email: string; metadata?: Record<string, unknown> | undefined },
  ): Promise<{ events: string[]; calls: EventCall[] }>;
  /** Undefined when there is no user or no event to take in place of one that is not named. */
  test(request: InputOf<typeof testSite>['body']): Promise<(EventCall & { email: string }) | undefined>;
  users(): Promise<SiteUser[]>;
  addUser(request: InputOf<typeof addSiteUser>['body']): Promise<SiteUser | { problems: SettingProblem[] }>;
  /** Undefined without such a user. */
  addApplicationPassword(
    user: string,
    name: string,
  ): Promise<{ login: string; password: string } | undefined>;
}

export const controlSite = (site: ControlSiteDeps): ControlRoute[] => [
  controlHandler(fireSiteHook, async ({ path: { hook }, body: { user, metadata } }) => {
    const hooks = await site.hooks();
    if (!hooks.includes(hook)) return { refusal: { code: 'hook_not_found', hook, hooks } };
    const email = await site.emailOf(user);
    if (email === undefined) return stranger(user);
    const { events, calls } = await site.fire(hook, { email, metadata });
    return { hook, user: email, events, calls: calls.map(shownCall) };
  }),
  controlHandler(testSite, async ({ body }) => {
    const tested = await site.test(body);
    return tested ? { ...shownCall(tested), email: tested.email } : stranger(body.email ?? 'the site');
  }),
  controlHandler(listSiteUsers, async () => ({ users: (await site.users()).map(shownUser) })),
  controlHandler(addSiteUser, async ({ body }) => {
    const added = await site.addUser(body);
    return 'problems' in added ? { refusal: { code: 'invalid_settings', ...added } } : shownUser(added);
  }),
  controlHandler(addSiteApplicationPassword, async ({ path: { login: user }, body: { name } }) => {
    const made = await site.addApplicationPassword(user, name);
    return made ? { ...made, name } : stranger(user);
  }),
];

const stranger = (name: string): { refusal: ControlRefusal } => ({
  refusal: { code: 'site_user_not_found', name },
});

const shownCall = ({ eventName, success, status, message, reward }: EventCall) => ({
  eventName,
  success,
  status,
  message,
  reward: reward ?? null,
});

/** Without what else the site keeps of its users. */
const shownUser = ({ login, email, displayName, role }: SiteUser): SiteUser => ({
  login,
  email,
  displayName,
  role,
});

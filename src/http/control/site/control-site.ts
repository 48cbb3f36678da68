/** The demo site over the control API. */
import type { Context, Handler } from 'hono';
import type { z } from 'zod';
import {
  applicationPasswordWish,
  connectionTest,
  hookOccurrence,
  newSiteUser,
} from '../../../contract/control/site.ts';
import type { SettingProblem } from '../../../rules/brands/settings.ts';
import { readSettings, refuse } from '../refuse.ts';

/** What became of one event of the site. `status` 0: the service gave no answer. */
interface EventCall {
  eventName: string;
  success: boolean;
  status: number;
  message: string;
  reward?: number | undefined;
}

interface SiteUser {
  login: string;
  email: string;
  displayName: string;
  role: 'administrator' | 'subscriber';
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
  test(wish: {
    email?: string | undefined;
    eventName?: string | undefined;
  }): Promise<(EventCall & { email: string }) | undefined>;
  users(): Promise<SiteUser[]>;
  addUser(wish: z.output<typeof newSiteUser>): Promise<SiteUser | { problems: SettingProblem[] }>;
  /** Undefined without such a user. */
  addApplicationPassword(
    user: string,
    name: string,
  ): Promise<{ login: string; password: string } | undefined>;
}

export function controlSite(site: ControlSiteDeps): Record<string, Handler> {
  const stranger = (context: Context, name: string) => refuse(context, { code: 'site_user_not_found', name });
  return {
    async fireSiteHook(context) {
      const hook = context.req.param('hook') ?? '';
      const hooks = await site.hooks();
      if (!hooks.includes(hook)) return refuse(context, { code: 'hook_not_found', hook, hooks: [...hooks] });
      const read = await wishOf(context, hookOccurrence);
      if (read.refused) return read.refused;
      const email = await site.emailOf(read.wish.user);
      if (email === undefined) return stranger(context, read.wish.user);
      const { events, calls } = await site.fire(hook, { email, metadata: read.wish.metadata });
      return context.json({ hook, user: email, events, calls: calls.map(callReply) });
    },
    async testSite(context) {
      const read = await wishOf(context, connectionTest);
      if (read.refused) return read.refused;
      const tested = await site.test(read.wish);
      if (!tested) return stranger(context, read.wish.email ?? 'the site');
      return context.json({ ...callReply(tested), email: tested.email });
    },
    async listSiteUsers(context) {
      return context.json({ users: (await site.users()).map(userReply) });
    },
    async addSiteUser(context) {
      const read = await wishOf(context, newSiteUser);
      if (read.refused) return read.refused;
      const added = await site.addUser(read.wish);
      if ('problems' in added) return refuse(context, { code: 'invalid_settings', problems: added.problems });
      return context.json(userReply(added), 201);
    },
    async addSiteApplicationPassword(context) {
      const read = await wishOf(context, applicationPasswordWish);
      if (read.refused) return read.refused;
      const user = context.req.param('login') ?? '';
      const { name } = read.wish;
      const made = await site.addApplicationPassword(user, name);
      return made ? context.json({ ...made, name }, 201) : stranger(context, user);
    },
  };
}

/** The body, read, or what is wrong with it. */
async function wishOf<Wish>(context: Context, schema: z.ZodType<Wish>) {
  const body = await readSettings(context);
  if (!body) return { refused: refuse(context, { code: 'invalid_body' }) };
  const read = schema.safeParse(body);
  if (read.success) return { wish: read.data };
  const problems = read.error.issues.flatMap((issue): SettingProblem[] => {
    const named = issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.join('.') || 'the body'];
    return named.map((setting) => ({ setting, message: issue.message }));
  });
  return { refused: refuse(context, { code: 'invalid_settings', problems }) };
}

const callReply = ({ eventName, success, status, message, reward }: EventCall) => ({
  ...{ eventName, success, status, message },
  reward: reward ?? null,
});

const userReply = ({ login, email, displayName, role }: SiteUser) => ({ login, email, displayName, role });

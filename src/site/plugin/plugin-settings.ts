/** The plugin's settings, as its administrator keeps them in the site's store, what is wrong with wished ones, and the usual events. Contract: What the service does. */
import { z } from 'zod';
import { parseUrl } from '../../lib/url.ts';
import type { SiteStore } from '../store.ts';
import { isBuiltIn, isHookName, OWN_HOOK_MUST_BE } from './hooks.ts';

/** An event that follows a hook. */
export interface HookedEvent {
  /** One of the site's hooks, or the name of one that the host, a command or a page fires. */
  hook: string;
  /** Exactly as the brand names it; case counts. */
  eventName: string;
  enabled: boolean;
  /** Whether pages may send it through the AJAX action, as they may the events of `share`: then any visitor can. */
  fromPages?: boolean | undefined;
}

export interface PluginSettings {
  /** Empty: the plugin is not configured. */
  brandId: string;
  eventHandlerUrl: string;
  servicesUrl: string;
  /** The domain that event calls name; the host of the site where it is empty. */
  domain: string;
  /** A key of the brand, for brands that let only its holders write or redeem (`engagementWrites: credential`, `redemptions: key`); stays on the server. */
  apiKey: string;
  events: HookedEvent[];
  debugLogging: boolean;
}

/** A wrong setting: what, why, and how to mend it. */
export interface SettingsProblem {
  field: string;
  message: string;
  fix: string;
}

/** The event that usually follows each hook, until an administrator chooses others. */
export const defaultEvents: readonly HookedEvent[] = [
  { hook: 'user_registered', eventName: 'account_creation', enabled: true },
  { hook: 'comment_posted', eventName: 'review_submission', enabled: true },
  { hook: 'page_load', eventName: 'daily_visit', enabled: true },
  // Most users who log in have just been rewarded for their visit.
  { hook: 'login', eventName: 'daily_login', enabled: false },
  { hook: 'post_published', eventName: 'article_published', enabled: true },
  { hook: 'order_completed', eventName: 'purchase', enabled: true },
  { hook: 'share', eventName: 'social_share', enabled: true },
];

/** More would make one hook send a flood. */
const EVENTS_MAX = 50;

/** A settings page that a person can read, and a name for every moment of a busy site. */
const OWN_HOOKS_MAX = 20;

const hostName =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?::\d{1,5})?$/i;
/** Letters of a key; no line ends, which would break the header that it goes into. */
const keyForm = /^[\x21-\x7e]{0,200}$/;

const serviceUrl = z
  .string()
  .trim()
  .transform((text) => text.replace(/\/+$/, ''))
  .refine(
    isServiceUrl,
    'must be the address of the service: http or https, without user, query and fragment',
  );

const wantedSettings = z
  .object({
    brandId: z
      .string()
      .trim()
      .toLowerCase()
      .regex(/^(?:0x[0-9a-f]{40})?$/, 'must be an address: 0x and 40 hex digits, or empty'),
    eventHandlerUrl: serviceUrl,
    servicesUrl: serviceUrl,
    domain: z
      .string()
      .trim()
      .refine((text) => text === '' || hostName.test(text), 'must be a host name, without scheme and path'),
    apiKey: z.string().trim().regex(keyForm, 'must be a key of the brand, or empty'),
    events: z
      .array(
        z.object({
          hook: z.string().trim().refine(isHookName, OWN_HOOK_MUST_BE),
          eventName: z.string().trim().min(1, 'must not be empty').max(100, 'has at most 100 characters'),
          enabled: z.boolean({ error: 'must be true or false' }),
          fromPages: z.boolean({ error: 'must be true or false' }).optional(),
        }),
      )
      .max(EVENTS_MAX, `takes at most ${EVENTS_MAX} events`)
      .refine(haveFewOwnHooks, `have more than ${OWN_HOOKS_MAX} hooks of your own`)
      .refine(areDifferent, 'names an event twice under one hook: it would be sent twice'),
    debugLogging: z.boolean({ error: 'must be true or false' }),
  })
  .partial();

/** What an administrator does about each of the fields. */
const fixes: Record<keyof PluginSettings, string> = {
  brandId: "Copy the Brand ID from the brand's dashboard.",
  eventHandlerUrl: 'Write it such as https://events.rewards.example.',
  servicesUrl: 'Write it such as https://services.rewards.example.',
  domain: 'Write it exactly as the brand has it, such as www.shop.example, or leave it empty.',
  apiKey: "Copy the key from the brand's dashboard, or leave it empty.",
  events: "Name each event exactly as the brand's dashboard does, once for each hook.",
  debugLogging: 'Say true or false.',
};

/** The plugin's settings in the site's store, and what is wrong with those that somebody wants. */
export function createPluginSettings(deps: { store: SiteStore }, defaults: PluginSettings) {
  const read = deps.store.prepare<[], { value: string }>("select value from settings where name = 'plugin'");
  const write = deps.store.prepare<[string]>(
    `insert into settings (name, value) values ('plugin', ?)
     on conflict (name) do update set value = excluded.value`,
  );
  const current = (): PluginSettings => {
    const kept = read.get();
    return kept ? { ...defaults, ...(JSON.parse(kept.value) as Partial<PluginSettings>) } : { ...defaults };
  };
  return {
    read: current,
    /** Fields that are not given keep their values. Saves all or nothing. */
    save(wanted: unknown): SettingsProblem[] {
      const checked = wantedSettings.safeParse(wanted);
      if (!checked.success) return checked.error.issues.map(problemIn);
      const given = Object.fromEntries(
        Object.entries(checked.data).filter(([, value]) => value !== undefined),
      );
      // What is as it was at first is not kept: it goes on following what the host says, such as where the service is.
      const differing = Object.entries({ ...current(), ...given }).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(defaults[name as keyof PluginSettings]),
      );
      write.run(JSON.stringify(Object.fromEntries(differing)));
      return [];
    },
  };
}

/** What is wrong with settings, each with its fix; what is not given is not looked at. */
export function settingsProblems(wanted: unknown): SettingsProblem[] {
  const checked = wantedSettings.safeParse(wanted);
  return checked.success ? [] : checked.error.issues.map(problemIn);
}

function problemIn(issue: z.core.$ZodIssue): SettingsProblem {
  const [name, ...below] = issue.path.map(String);
  const fix = name === undefined ? undefined : fixes[name as keyof PluginSettings];
  return {
    field: [name, ...below].filter((part) => part !== undefined).join('.'),
    message: `${[name ?? 'settings', ...below].join('.')} ${issue.message}`,
    fix: fix ?? 'Send the settings as an object.',
  };
}

function isServiceUrl(text: string): boolean {
  if (text === '') return true;
  const url = parseUrl(text);
  return (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '') &&
    !/[?#]/.test(text)
  );
}

function haveFewOwnHooks(events: { hook: string }[]): boolean {
  const own = events.map(({ hook }) => hook).filter((hook) => !isBuiltIn(hook));
  return new Set(own).size <= OWN_HOOKS_MAX;
}

function areDifferent(events: { hook: string; eventName: string }[]): boolean {
  return new Set(events.map(({ hook, eventName }) => `${hook} ${eventName}`)).size === events.length;
}

/** The package's export `rewards/site`: the site for other Node programs, with defaults for what `serve` passes in. */
import type { IncomingMessage } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { systemClock } from '../lib/clock.ts';
import { secureRandom } from '../lib/ids.ts';
import { jsonLog } from '../lib/log.ts';
import { parseUrl } from '../lib/url.ts';
import { createSite as assembleSite } from './create-site.ts';
import type { RewardsSite, SiteOptions } from './library-types.ts';
import { defaultEvents, type PluginSettings, settingsProblems } from './plugin/plugin-settings.ts';
import { openSiteStore } from './store.ts';

/** Puts a site together from what its host says; see `library-types.ts`. */
export function createSite(options: SiteOptions): RewardsSite {
  const url = siteUrl(options.url);
  const settings = settingsOf(options);
  const given = options.clock;
  const clock = { ...systemClock(), ...(given && { now: () => given.now() }) };
  const log = jsonLog({ level: 'warn', now: clock.now, write: options.log ?? toStandardError });
  const store = openSiteStore(options.store ?? 'site.sqlite');
  const { content = 'empty', name = url.hostname } = options;
  const site = assembleSite(
    { store, clock, random: secureRandom(clock), log },
    { url: url.href.replace(/\/+$/, ''), settings, name, content },
  );
  const answer = getRequestListener((request, from) => site.fetch(request, from), { hostname: url.hostname });
  const { plugin, accounts } = site;
  return {
    fetch: site.fetch,
    listener: async (request, response) => {
      await answer(request, response);
    },
    fire: plugin.fire,
    expandShortcodes: (html, request) => site.expandShortcodes(html, asRequest(request, url)),
    headTags: (request) => site.headTags(asRequest(request, url)),
    addUser: (user) => accounts.addUser({ ...user, displayName: user.displayName ?? user.login }),
    findUser: accounts.findUser,
    async close() {
      await plugin.idle();
      store.close();
    },
  };
}

function siteUrl(text: unknown): URL {
  const url = typeof text === 'string' ? parseUrl(text) : undefined;
  const isPlain = url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!url || !isPlain) {
    throw new TypeError(
      `createSite: url must be where browsers find the site, such as https://www.shop.example/club, not ${String(text)}`,
    );
  }
  return url;
}

function settingsOf(options: SiteOptions): PluginSettings {
  const { eventHandlerUrl = '' } = options;
  const settings = {
    brandId: options.brandId?.toLowerCase() ?? '',
    eventHandlerUrl: withoutSlash(eventHandlerUrl),
    servicesUrl: withoutSlash(options.servicesUrl ?? eventHandlerUrl),
    domain: options.domain ?? '',
    apiKey: options.apiKey ?? '',
    events: options.events ?? [...defaultEvents],
    debugLogging: options.debugLogging ?? false,
  };
  const problems = settingsProblems(settings);
  if (problems.length === 0) return settings;
  throw new TypeError(problems.map(({ message, fix }) => `createSite: ${message}. ${fix}`).join('\n'));
}

const withoutSlash = (url: string) => url.replace(/\/+$/, '');

/** What the shortcodes need of a request: who asks, and for which page. */
function asRequest(request: Request | IncomingMessage, url: URL): Request {
  if (request instanceof Request) return request;
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return new Request(new URL(request.url ?? '/', url), { headers });
}

const toStandardError = (line: string): void => {
  process.stderr.write(line);
};

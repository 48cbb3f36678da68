/** Puts a site together: accounts, content and the plugin, over one store and the service's client. */
import { Hono } from 'hono';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { type Accounts, createAccounts } from './accounts/create-accounts.ts';
import { siteSettings } from './config.ts';
import { type Content, createContent } from './content/create-content.ts';
import { createHostParts, createPages, type HostParts } from './pages/create-pages.ts';
import { createNotices } from './pages/notices.ts';
import { createPlugin } from './plugin/create-plugin.ts';
import type { Plugin } from './plugin/plugin.ts';
import type { PluginSettings } from './plugin/plugin-settings.ts';
import { createAddressWindows } from './rest/address.ts';
import { createAjax } from './rest/ajax.ts';
import { createRest } from './rest/create-rest.ts';
import { createLogIn } from './rest/log-in.ts';
import { refuse } from './rest/refusals.ts';
import type { SiteStore } from './store.ts';

export interface SiteDeps {
  store: SiteStore;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface SiteConfig {
  /** Scheme, host and base path, without a slash at the end: where browsers find the site. */
  url: string;
  /** What holds until an administrator saves other settings. */
  settings: PluginSettings;
  /** What the site calls itself. */
  name?: string | undefined;
  /** `empty`: a new store gets no posts and products; else it gets those of the demo. */
  content?: 'demo' | 'empty' | undefined;
  /** How long the plugin waits for the service; the contract's 15 s unless told. */
  callTimeoutMs?: number | undefined;
  /** False: one address may ask and register as often as it likes, as tests on one machine do. Logins are slowed all the same. */
  limitAddresses?: boolean | undefined;
}

export interface Site extends HostParts {
  /**
   * Answers everything below the base path of `config.url`. `from`: where the request comes from, as
   * `{address: '203.0.113.7'}` or as `@hono/node-server` hands it on; without it no address is slowed down.
   */
  fetch(request: Request, from?: unknown): Promise<Response>;
  plugin: Plugin;
  accounts: Accounts;
  content: Content;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export function createSite(deps: SiteDeps, config: SiteConfig): Site {
  const basePath = new URL(config.url).pathname.replace(/\/+$/, '');
  const plugin = createPlugin(deps, config);
  const atMost = (count: number, ms: number) =>
    createAddressWindows(deps, {
      count: config.limitAddresses === false ? Number.POSITIVE_INFINITY : count,
      ms,
    });
  const accounts = createAccounts(
    {
      ...deps,
      mayRegister: atMost(siteSettings.registrationsPerHour, HOUR_MS),
      onRegistered: ({ email }) => plugin.fireLater('user_registered', { email }),
      onLoggedIn: ({ email }) => plugin.fireLater('login', { email }),
    },
    config,
  );
  const now = () => deps.clock.now();
  const content = createContent(
    { store: deps.store, now, fire: plugin.fireLater },
    { isDemo: config.content !== 'empty' },
  );
  const rest = { accounts, plugin, mayCall: atMost(siteSettings.addressCallsPerMinute, MINUTE_MS) };
  const notices = createNotices({ store: deps.store, now });
  const pages = { ...rest, content, notices, now };
  const app = new Hono({ strict: false })
    .basePath(basePath)
    .route('/wp-json/rewards/v1', createRest(rest))
    .route('/wp-admin/admin-ajax.php', createAjax(rest))
    .route('/', createLogIn({ accounts, basePath }))
    .route('/', createPages(pages, { url: config.url, name: config.name ?? 'Demo Goods' }));
  app.onError((error) => {
    deps.log.error({ reason: String(error) }, 'a request to the site failed');
    return refuse('internal_error');
  });
  return {
    fetch: async (request, from) => app.fetch(request, from as object),
    ...createHostParts(pages, config),
    plugin,
    accounts,
    content,
  };
}

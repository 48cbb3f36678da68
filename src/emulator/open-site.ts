/** The demo site of an emulator: a content site with the plugin, which asks the service over HTTP like any other. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { settings } from '../compose/config.ts';
import type { Lifecycle } from '../compose/lifecycle.ts';
import type { ControlSiteDeps } from '../http/control/site.ts';
import { findConfiguredBrand, listAllEventRules } from '../ledger/brands/brand-configuration.ts';
import { listBrands } from '../ledger/brands/brands.ts';
import type { Database } from '../ledger/database/database.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { within } from '../lib/timers.ts';
import type { Site } from '../site/create-site.ts';
import { hooks } from '../site/plugin/hooks.ts';
import { defaultEvents, type HookedEvent, type PluginSettings } from '../site/plugin/plugin-settings.ts';
import { openSiteStore, type SiteStore } from '../site/store.ts';
import type { ClockLimit } from './clock/move-clock.ts';
import type { Fixture, FixtureUser } from './fixture/fixture.ts';
import type { HostUrls } from './open-hosts.ts';
import { SITE_STORE } from './state/data-files.ts';

interface EmulatedSiteDeps {
  dataDir: string;
  clock: Clock;
  random: Random;
  log: Log;
  database: Database;
  lifecycle: Pick<Lifecycle, 'onStop'>;
}

export interface EmulatedSite {
  /** Everything below the site's address. */
  host: { fetch(request: Request, env?: unknown): Promise<Response> };
  /** The hosts are open. */
  announce(urls: HostUrls): void;
  /** Resolves when the events that pages have begun to send have found the service: before the hosts close. */
  settle(): Promise<void>;
  controls: ControlSiteDeps;
  /** Sessions of its users; none for a site without a visit in this run. */
  sessionEnds: ClockLimit;
}

/** A store from before is opened at once: what is wrong with it stops the start, not the first visitor. */
export function openSite(deps: EmulatedSiteDeps, fixture: Fixture): EmulatedSite {
  const file = join(deps.dataDir, SITE_STORE);
  let store: SiteStore | undefined = existsSync(file) ? openSiteStore(file) : undefined;
  let urls: HostUrls | undefined;
  let building: Promise<Site> | undefined;

  async function build(): Promise<Site> {
    if (!urls) throw new Error('the hosts are not open yet');
    // Loaded only here, since it loads the pages and the password hash.
    const { createSite } = await import('../site/create-site.ts');
    store ??= openSiteStore(file);
    const { clock, random, log } = deps;
    const first = await siteSettings(deps, fixture, urls);
    const config = { url: urls.site, settings: first, limitAddresses: false };
    const built = createSite({ store, clock, random, log }, config);
    await seedUsers({ log, accounts: built.accounts }, fixture.users);
    return built;
  }
  /** Built at the first call: most stacks never need it, and start sooner without. */
  const site = () => {
    building ??= build().catch((error: unknown) => {
      // The next request tries again.
      building = undefined;
      throw error;
    });
    return building;
  };
  // Closing the store leaves all of it in one file.
  deps.lifecycle.onStop(async () => {
    const built = await building?.catch(() => undefined);
    await built?.plugin.idle();
    store?.close();
  });
  return {
    host: { fetch: async (request, env) => (await site()).fetch(request, env) },
    announce(opened) {
      urls = opened;
    },
    async settle() {
      const built = await building?.catch(() => undefined);
      if (built) await within(settings.drainTimeoutMs, built.plugin.idle());
    },
    controls: siteControls(site),
    sessionEnds: {
      async ending(range) {
        const built = await building?.catch(() => undefined);
        const rows = built?.accounts.sessionsEnding(range) ?? [];
        const items = rows.map(({ atMs, login }) => ({
          atMs,
          kind: 'session-expiry' as const,
          what: `a session of ${login} on the demo site ends`,
        }));
        return { items, total: rows[0]?.total ?? 0 };
      },
    },
  };
}

/** Adds those that the site does not have; the others stay as they are, since they may have changed their passwords. */
async function seedUsers(
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

/** The plugin's settings for the fixture's site, or for the first brand; without any brand, it is not configured. */
async function siteSettings(
  { database: { db } }: { database: Database },
  fixture: Pick<Fixture, 'brands' | 'site'>,
  urls: Pick<HostUrls, 'events' | 'services'>,
): Promise<PluginSettings> {
  const { site } = fixture;
  const first = fixture.brands[0]?.brand ?? (await listBrands(db))[0];
  const brandId = site?.brand ?? first?.brandId;
  if (!brandId) return notConfigured(urls);
  const brand = await findConfiguredBrand(db, brandId);
  const active = new Set(
    (await listAllEventRules(db, brandId)).filter((rule) => rule.active).map(({ eventType }) => eventType),
  );
  const usual = defaultEvents.filter(({ eventName }) => active.has(eventName));
  const { clientEvents, engagementWrites, redemptions } = brand?.profile ?? {};
  const needsKey = [clientEvents, engagementWrites].includes('credential') || redemptions !== 'open';
  const seeded = fixture.brands.find((one) => one.brand.brandId === brandId);
  return {
    brandId,
    eventHandlerUrl: urls.events,
    servicesUrl: urls.services,
    domain: site?.domain ?? brand?.profile.domains[0] ?? '',
    apiKey: needsKey ? (seeded?.apiKey ?? '') : '',
    events: site?.events?.map(hooked) ?? usual,
    debugLogging: site?.debugLog ?? false,
  };
}

const notConfigured = (urls: Pick<HostUrls, 'events' | 'services'>): PluginSettings => ({
  brandId: '',
  eventHandlerUrl: urls.events,
  servicesUrl: urls.services,
  domain: '',
  apiKey: '',
  events: [],
  debugLogging: false,
});

const hooked = ({
  hook,
  event,
  enabled,
  fromPages,
}: NonNullable<NonNullable<Fixture['site']>['events']>[number]) =>
  ({ hook, eventName: event, enabled, ...(fromPages && { fromPages }) }) satisfies HookedEvent;

/** `open` builds the site, at the first call. */
function siteControls(open: () => Promise<Site>): ControlSiteDeps {
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

/** A site on a port of its own, in front of any service: real store, real HTTP. */
import { listen } from '../../../src/compose/listen.ts';
import { type AdjustableClock, adjustableClock } from '../../../src/lib/clock.ts';
import { secureRandom } from '../../../src/lib/ids.ts';
import { silentLog } from '../../../src/lib/log.ts';
import type { NonceAction } from '../../../src/site/accounts/users.ts';
import { createSite } from '../../../src/site/create-site.ts';
import type { PluginSettings } from '../../../src/site/plugin/plugin-settings.ts';
import { openSiteStore, type SiteStore } from '../../../src/site/store.ts';
import { type Answer, someone, startTestService } from '../service/service.ts';

export type TestSite = Awaited<ReturnType<typeof startTestSite>>;

/** A site in front of a service of its own, with the service's first brand. */
export async function startSiteAndService(settings: Partial<PluginSettings> = {}) {
  // At noon in the middle of a week: neither ends meanwhile.
  const service = await startTestService({ clockStartMs: Date.UTC(2031, 0, 15, 12) });
  const { events, services } = service.ready.urls;
  const site = await startTestSite({
    brandId: service.brand.brandId,
    eventHandlerUrl: events,
    servicesUrl: services,
    ...settings,
  });
  return { service, site };
}

/** `path`: where the site's base is, `/site` unless told. `like`: a site whose store and clock it shares. */
export async function startTestSite(
  settings: Partial<PluginSettings> = {},
  {
    path = '/site',
    like,
    ...limits
  }: {
    path?: string;
    like?: { clock: AdjustableClock; store: SiteStore };
    callTimeoutMs?: number;
    limitAddresses?: boolean;
  } = {},
) {
  const clock = like?.clock ?? adjustableClock();
  const store = like?.store ?? openSiteStore(':memory:');
  const host: { fetch: (request: Request, env?: unknown) => Promise<Response> } = {
    fetch: async () => new Response(null, { status: 503 }),
  };
  const listener = await listen(
    { fetch: (request, env) => host.fetch(request, env) },
    { bindAddress: '127.0.0.1', port: 0, explicit: true },
  );
  const url = `${listener.url}${path}`;
  const site = createSite(
    { store, clock, random: secureRandom(clock), log: silentLog },
    { url, settings: { ...notConfigured, ...settings }, ...limits },
  );
  host.fetch = site.fetch;
  const request = requestTo(url);
  const post = (at: string, body: unknown, headers: Record<string, string> = {}) =>
    request(at, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return {
    site,
    store,
    clock,
    url,
    request,
    post,
    /** A new user with a password and an application password, known to nobody before. */
    async person() {
      const email = someone();
      const login = email.split('@')[0] ?? '';
      const password = 'correct horse battery';
      const made = await site.accounts.addUser({ login, email, displayName: login, password });
      if (!('user' in made)) throw new Error(made.problems[0]?.message);
      const secret = site.accounts.addApplicationPassword(login, 'tests') ?? '';
      return { user: made.user, login, email, password, basic: basic(login, secret) };
    },
    /** Logs in over HTTP, and takes a nonce as a page of the site would embed it. */
    async browser({ login, password }: { login: string; password: string }) {
      const answer = await post('/login', { login, password });
      const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      const nonce = (action: NonceAction) =>
        site.accounts.nonceFor(site.accounts.callerOf(new Request(url, { headers: { cookie } })), action);
      return { answer, cookie, nonce, headers: { cookie, 'x-site-nonce': nonce('rest') } };
    },
    async stop() {
      await site.plugin.idle();
      await listener.close(1_000);
      if (!like) store.close();
    },
  };
}

const notConfigured: PluginSettings = {
  brandId: '',
  eventHandlerUrl: '',
  servicesUrl: '',
  domain: 'demo.example',
  apiKey: '',
  events: [],
  debugLogging: false,
};

/** HTTP Basic, as a program sends it. */
export const basic = (login: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`,
});

const requestTo =
  (url: string) =>
  async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, { redirect: 'manual', ...init });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text.startsWith('{') ? JSON.parse(text) : text,
    };
  };

/** The listeners of an emulator, and what they have: all hosts on one port, or each on its own. */
import { type Handler, Hono } from 'hono';
import { settings } from '../compose/config.ts';
import { onOnePort, type ServiceHosts } from '../compose/hosts/one-port.ts';
import type { Lifecycle } from '../compose/lifecycle.ts';
import { listen } from '../compose/listen.ts';
import { tidyPath } from '../http/frame/host-frame.ts';
import type { RequestVariables } from '../http/frame/request-record.ts';
import { createIdpHost } from '../http/idp.ts';
import { type IndexLink, indexPage } from '../http/reference/index-page.ts';
import type { TokenIssuer } from '../identity/tokens.ts';
import type { ServeConfig } from './serve-config.ts';

/** The address of each host; `control` and, on a shared port, `site` with their paths. */
export interface HostUrls {
  events: string;
  relay: string;
  register: string;
  services: string;
  site: string;
  control: string;
}

/** The emulated payment processor: its API and its checkout page, each with its whole path. */
export type ProcessorHosts = Record<'api' | 'pages', Pick<Hono, 'fetch'>>;

/** A content site beside the service: answers everything below its address. */
export interface SiteHost {
  fetch(request: Request, env?: unknown): Promise<Response>;
}

/** Where the site is on a shared port. */
const SITE_PATH = '/site';

/** What answers at a listener. */
export type Answers = Pick<Hono, 'fetch'> | SiteHost;

/** With `splitHosts` each has a port of its own; else `events` answers for all. */
export type ListenerName = keyof HostUrls;
export type ListenerApps = { events: Answers } & Partial<Record<ListenerName, Answers>>;

/** Puts the hosts together as the listeners have them. `urls` are known once those are open. */
export function listenerApps(
  { splitHosts }: Pick<ServeConfig, 'splitHosts'>,
  hosts: ServiceHosts & { control: Hono; issuer: TokenIssuer; processor: ProcessorHosts; site: SiteHost },
  urls: () => HostUrls | undefined,
): ListenerApps {
  const links = () => {
    const at = urls();
    return at ? linksOf(at) : [];
  };
  const index = indexPage(['/', settings.apiPrefix], links);
  const indexed = () => new Hono({ getPath: tidyPath }).use(index);
  const ofEmulator = new Hono({ getPath: tidyPath })
    .route('/_rewards', hosts.control)
    .route('/_idp', createIdpHost(hosts))
    .all('/v1/*', handTo(hosts.processor.api))
    .all('/_pay/*', handTo(hosts.processor.pages));
  const described = onOnePort(hosts, settings);
  if (!splitHosts) {
    const app = indexed()
      .route('/', ofEmulator)
      .all(SITE_PATH, handTo(hosts.site))
      .all(`${SITE_PATH}/*`, handTo(hosts.site))
      .route('/', described);
    return { events: app };
  }
  // The event handler's address has the references of all hosts; each other host has its own as well.
  const withReferences = indexed();
  for (const name of ['events', 'register', 'services', 'relay']) {
    withReferences.get(`/docs/${name}`, (context) => described.fetch(context.req.raw, context.env));
  }
  const elsewhere = (host: Hono<RequestVariables>) =>
    indexed()
      .get('/docs/:name', (context) =>
        context.redirect(`${urls()?.events ?? ''}/docs/${context.req.param('name')}`),
      )
      .route('/', host);
  return {
    events: withReferences.route('/', hosts.events),
    register: elsewhere(hosts.register),
    services: elsewhere(hosts.services),
    ...(hosts.relay && { relay: elsewhere(hosts.relay) }),
    site: hosts.site,
    control: indexed().route('/', ofEmulator),
  };
}

/** Opens a listener for each application. */
export async function openListeners(
  config: Pick<ServeConfig, 'bindAddress' | 'port' | 'portExplicit' | 'splitHosts'>,
  apps: ListenerApps,
  lifecycle: Pick<Lifecycle, 'onStop'>,
): Promise<HostUrls> {
  const open = async (app: Answers, port: number, explicit: boolean) => {
    const listener = await listen(app, { bindAddress: config.bindAddress, port, explicit });
    lifecycle.onStop(() => listener.close(settings.drainTimeoutMs));
    return listener.url;
  };
  const url = await open(apps.events, config.port, config.portExplicit);
  const anywhere = async (name: ListenerName) => {
    const app = apps[name];
    return app ? open(app, 0, false) : url;
  };
  const service = {
    events: url,
    register: await anywhere('register'),
    services: await anywhere('services'),
    relay: await anywhere('relay'),
  };
  if (!config.splitHosts) return { ...service, site: `${url}${SITE_PATH}`, control: `${url}/_rewards` };
  return {
    ...service,
    site: await anywhere('site'),
    control: `${await anywhere('control')}/_rewards`,
  };
}

const handTo =
  (host: Answers): Handler =>
  (context) =>
    host.fetch(context.req.raw, context.env);

/** The index: each host's reference, the emulator's controls and its site. */
const linksOf = ({ events, control, site }: HostUrls): IndexLink[] => [
  { name: 'Console', url: `${control}/`, about: 'What happens here, why, and what you can do about it.' },
  { name: 'Events', url: `${events}/docs/events`, about: 'Customer events, balances, DNS, health.' },
  { name: 'Register', url: `${events}/docs/register`, about: 'Wallets before the first reward.' },
  { name: 'Services', url: `${events}/docs/services`, about: 'What users have done, earned and can get.' },
  { name: 'Relay', url: `${events}/docs/relay`, about: 'Transactions for users who own no gas.' },
  {
    name: 'Controls',
    url: `${control}/docs`,
    about: 'The clock, the requests and the brands of this emulator.',
  },
  { name: 'Site', url: site, about: 'A content site whose visitors are rewarded; the banner has a login.' },
  { name: 'Client script', url: `${events}/sdk.js`, about: "What a brand's pages load." },
];

/** Opens the listeners of an emulator: all hosts on one port, or each on its own. */
import { type Handler, Hono } from 'hono';
import type { RequestVariables } from '../../http/frame/request-record.ts';
import { tidyPath } from '../../http/frame/tidy-path.ts';
import { createIdpHost } from '../../http/idp.ts';
import { type IndexLink, indexPage } from '../../http/reference/index-page.ts';
import type { TokenIssuer } from '../../identity/tokens.ts';
import { type ServeConfig, settings } from '../config.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { listen } from '../listen.ts';
import { onOnePort, type ServiceHosts } from './one-port.ts';

/** The address of each host; `control` with its path. */
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

export async function openHosts(
  config: Pick<ServeConfig, 'bindAddress' | 'port' | 'portExplicit' | 'splitHosts'>,
  hosts: ServiceHosts & { control: Hono; issuer: TokenIssuer; processor: ProcessorHosts },
  lifecycle: Pick<Lifecycle, 'onStop'>,
): Promise<HostUrls> {
  const open = async (app: Pick<Hono, 'fetch'>, port: number, explicit: boolean) => {
    const listener = await listen(app, { bindAddress: config.bindAddress, port, explicit });
    lifecycle.onStop(() => listener.close(settings.drainTimeoutMs));
    return listener.url;
  };
  const urls: { at?: HostUrls } = {};
  const index = indexPage(['/', settings.apiPrefix, '/_rewards'], () => (urls.at ? linksOf(urls.at) : []));
  const indexed = () => new Hono({ getPath: tidyPath }).use(index);
  const ofEmulator = new Hono({ getPath: tidyPath })
    .route('/_rewards', hosts.control)
    .route('/_idp', createIdpHost(hosts))
    .all('/v1/*', handTo(hosts.processor.api))
    .all('/_pay/*', handTo(hosts.processor.pages));
  const described = onOnePort(hosts, settings);
  if (config.splitHosts) {
    // The event handler's address has the references of all hosts; each other host has its own as well.
    const withReferences = indexed();
    for (const name of ['events', 'register', 'services', 'relay']) {
      withReferences.get(`/docs/${name}`, (context) => described.fetch(context.req.raw, context.env));
    }
    const events = await open(withReferences.route('/', hosts.events), config.port, config.portExplicit);
    const elsewhere = (host: Hono<RequestVariables>) =>
      indexed()
        .get('/docs/:name', (context) => context.redirect(`${events}/docs/${context.req.param('name')}`))
        .route('/', host);
    const register = await open(elsewhere(hosts.register), 0, false);
    const services = await open(elsewhere(hosts.services), 0, false);
    const relay = hosts.relay ? await open(elsewhere(hosts.relay), 0, false) : events;
    const control = await open(indexed().route('/', ofEmulator), 0, false);
    urls.at = { events, relay, register, services, site: events, control: `${control}/_rewards` };
    return urls.at;
  }
  const app = indexed().route('/', ofEmulator).route('/', described);
  const url = await open(app, config.port, config.portExplicit);
  urls.at = { events: url, relay: url, register: url, services: url, site: url, control: `${url}/_rewards` };
  return urls.at;
}

const handTo =
  (host: Pick<Hono, 'fetch'>): Handler =>
  (context) =>
    host.fetch(context.req.raw, context.env);

/** The index: each host's reference, and the emulator's controls. */
const linksOf = ({ events, control }: HostUrls): IndexLink[] => [
  { name: 'Events', url: `${events}/docs/events`, about: 'Customer events, balances, DNS, health.' },
  { name: 'Register', url: `${events}/docs/register`, about: 'Wallets before the first reward.' },
  { name: 'Services', url: `${events}/docs/services`, about: 'What users have done, earned and can get.' },
  { name: 'Relay', url: `${events}/docs/relay`, about: 'Transactions for users who own no gas.' },
  {
    name: 'Controls',
    url: `${control}/docs`,
    about: 'The clock, the requests and the brands of this emulator.',
  },
  { name: 'Client script', url: `${events}/sdk.js`, about: "What a brand's pages load." },
];

/** Opens the listeners of an emulator: all hosts on one port, or each on its own. */
import { Hono } from 'hono';
import { tidyPath } from '../http/frame/tidy-path.ts';
import { createIdpHost } from '../http/idp.ts';
import type { TokenIssuer } from '../identity/tokens.ts';
import { type ServeConfig, settings } from './config.ts';
import type { Lifecycle } from './lifecycle.ts';
import { listen } from './listen.ts';
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

export async function openHosts(
  config: Pick<ServeConfig, 'bindAddress' | 'port' | 'portExplicit' | 'splitHosts'>,
  hosts: ServiceHosts & { control: Hono; issuer: TokenIssuer },
  lifecycle: Pick<Lifecycle, 'onStop'>,
): Promise<HostUrls> {
  const open = async (app: Pick<Hono, 'fetch'>, port: number, explicit: boolean) => {
    const listener = await listen(app, { bindAddress: config.bindAddress, port, explicit });
    lifecycle.onStop(() => listener.close(settings.drainTimeoutMs));
    return listener.url;
  };
  const ofEmulator = new Hono({ getPath: tidyPath })
    .route('/_rewards', hosts.control)
    .route('/_idp', createIdpHost(hosts));
  if (config.splitHosts) {
    const events = await open(hosts.events, config.port, config.portExplicit);
    const register = await open(hosts.register, 0, false);
    const relay = hosts.relay ? await open(hosts.relay, 0, false) : events;
    const control = await open(ofEmulator, 0, false);
    return { events, relay, register, services: events, site: events, control: `${control}/_rewards` };
  }
  const app = new Hono({ getPath: tidyPath }).route('/', ofEmulator).route('/', onOnePort(hosts, settings));
  const url = await open(app, config.port, config.portExplicit);
  return { events: url, relay: url, register: url, services: url, site: url, control: `${url}/_rewards` };
}

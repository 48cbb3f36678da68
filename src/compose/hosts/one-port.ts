/** Hosts whose paths do not collide, behind one listener. */
import { type Handler, Hono } from 'hono';
import { servicesHostContract } from '../../contract/services/host.ts';
import { tidyPath } from '../../http/frame/host-frame.ts';
import type { RequestVariables } from '../../http/frame/request-record.ts';

type Host = Hono<RequestVariables>;

/** The service's hosts; the event handler answers every path that belongs to no other host. */
export interface ServiceHosts {
  events: Host;
  register: Host;
  services: Host;
  /** Absent where the service pays no gas. */
  relay?: Host | undefined;
}

/** The first part of each path of the services host, with its slash; every path below them is the host's. */
const servicesRoots = new Set(
  servicesHostContract.endpoints
    .filter(({ tag }) => tag !== 'Service')
    .map(({ path }) => path.split('/', 2).join('/')),
);

/** Joins all hosts in one application. Each keeps its own rules, its own refusals and its whole path. */
export function onOnePort(hosts: ServiceHosts, { apiPrefix }: { apiPrefix: string }): Hono {
  const app = new Hono({ getPath: tidyPath });
  const hand = (path: string, host: Host) => {
    const handler: Handler = (context) => host.fetch(context.req.raw, context.env);
    // Registered by name, so that metrics can tell its route from unknown paths.
    app.on(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], path, handler);
    app.all(path, handler);
  };
  /** A host with its own listener has its description at `/docs`; on one port that path is the event handler's. */
  const describe = (name: string, host: Host) => {
    const at = (path: string): Handler => {
      return (context) =>
        host.fetch(new Request(new URL(path, context.req.url), context.req.raw), context.env);
    };
    app.get(`/docs/${name}`, at('/docs'));
    app.get(`/openapi/${name}.json`, at('/openapi.json'));
  };
  hand(`${apiPrefix}/pregenerate-user`, hosts.register);
  describe('events', hosts.events);
  describe('register', hosts.register);
  describe('services', hosts.services);
  for (const root of servicesRoots) {
    hand(root, hosts.services);
    hand(`${root}/*`, hosts.services);
  }
  if (hosts.relay) {
    describe('relay', hosts.relay);
    hand('/relay', hosts.relay);
    hand('/relay/*', hosts.relay);
  }
  return app.route('/', hosts.events);
}

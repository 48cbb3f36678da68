/** The frame that every host has around its routes: request ids, HTTPS, CORS, its own description, 404 and 500. */
import type { IncomingMessage } from 'node:http';
import { type Context, type Env, type Handler, Hono } from 'hono';
import { getPath } from 'hono/utils/url';
import type { RequestHost } from '../../contract/control/requests.ts';
import type { HostContract } from '../../contract/endpoint.ts';
import type { FrameRefusal } from '../../contract/shared-refusals.ts';
import { type Database, isDatabaseBusy, isDatabaseUnavailable } from '../../ledger/database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { isSaid } from '../../lib/failures/availability.ts';
import { rootMessage } from '../../lib/failures/root-cause.ts';
import type { Random } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { apiDocument, pathOf } from '../openapi.ts';
import { apiReference, type ReferenceLink } from '../reference/reference-page.ts';
import { httpsOnly, type ProxyTrust } from './client-address.ts';
import { compressed } from './compressed.ts';
import { cors } from './cors.ts';
import { type FrameStep, framed } from './framed.ts';
import { requestNotes } from './request-notes.ts';
import type { Observer, RequestVariables } from './request-record.ts';

/** For the option `getPath` of every application: `//rewards-api//health/` is `/rewards-api/health`. */
export function tidyPath(request: Request): string {
  const path = getPath(request);
  if (!path.includes('//') && !path.endsWith('/')) return path;
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
}

export interface HostFrameDeps {
  database: Database;
  clock: Clock;
  random: Random;
  log: Log;
  proxies: ProxyTrust;
  /** Hosts of the service itself. */
  ownHosts: readonly string[];
  observer: Observer;
  settings: {
    /** Plain HTTP is refused. */
    httpsOnly: boolean;
    /** Stands in front of the paths that have it. */
    apiPrefix: string;
    /** The references of all hosts, where one address has them. */
    references?: readonly ReferenceLink[];
    bodyLimitBytes: number;
  };
}

/** What a host adds to its frame. */
interface HostParts {
  name: RequestHost;
  contract: HostContract;
  /** Answers in the host's own form. */
  refuse: (context: Context, refusal: FrameRefusal) => Response;
  /** By the endpoints' ids; the frame itself serves the description. */
  handlers: Record<string, Handler<RequestVariables>>;
  /** What a request has to pass before any handler. */
  gate?: FrameStep;
}

export function createHostFrame(deps: HostFrameDeps, host: HostParts): Hono<RequestVariables> {
  const app = new Hono<RequestVariables>({ getPath: tidyPath });
  const frame = framed(stepsOf(deps, host), failureAnswer(deps, host));
  const describe = () => apiDocument(host.contract, { serverUrl: '/', ...deps.settings });
  const handlers = { ...host.handlers, ...apiReference(describe, deps.settings.references) };
  const { apiPrefix } = deps.settings;
  mount(app, { apiPrefix, contract: host.contract, handlers, refuse: host.refuse, frame });
  const refuseUnknown = (context: Context) => {
    const { method, path } = context.req;
    return host.refuse(context, { code: 'unknown_endpoint', method, path });
  };
  app.all('*', frame(refuseUnknown));
  return app;
}

/** What stands around every handler of a host, the outermost first. */
function stepsOf(deps: HostFrameDeps, { name, refuse, gate }: HostParts): FrameStep[] {
  const { httpsOnly: mustBeHttps } = deps.settings;
  const refusePlain = (context: Context) => refuse(context, { code: 'https_required' });
  return [
    // Outermost, so that requests are recorded with answers that people can read.
    compressed(),
    requestNotes(deps, name),
    ...(mustBeHttps ? [httpsOnly({ trust: deps.proxies, refuse: refusePlain })] : []),
    cors({ ...deps, httpsOnly: mustBeHttps }),
    ...(gate ? [gate] : []),
  ];
}

/** How a host answers what fails. */
function failureAnswer(
  { log }: Pick<HostFrameDeps, 'log'>,
  { refuse }: Pick<HostParts, 'refuse'>,
): (error: unknown, context: Context) => Response {
  return (error, context) => {
    const { path } = context.req;
    if (wentAway(context)) {
      log.debug({ path }, 'a caller went away before all of its request had come');
      return context.body(null, 400);
    }
    if (!isSaid(error)) log.error({ path, error: rootMessage(error) }, 'a request failed');
    return refuse(context, { code: faultOf(error) });
  };
}

/** What a caller is told of a failure that is not the request's. */
export function faultOf(error: unknown): 'database_unavailable' | 'database_busy' | 'internal_error' {
  if (isDatabaseUnavailable(error)) return 'database_unavailable';
  return isDatabaseBusy(error) ? 'database_busy' : 'internal_error';
}

/** Whether the connection ended within the request; nobody gets the answer then. */
function wentAway({ env }: Context): boolean {
  const incoming: IncomingMessage | undefined = env?.incoming;
  return incoming?.destroyed === true && !incoming.complete;
}

/** Every endpoint of the contract with its handler: neither can be without the other. Other methods of its path are refused. */
export function mount<E extends Env>(
  app: Hono<E>,
  host: {
    apiPrefix: string;
    contract: Pick<HostContract, 'title' | 'endpoints'>;
    handlers: Record<string, Handler<E>>;
    refuse: (context: Context, refusal: Extract<FrameRefusal, { code: 'method_not_allowed' }>) => Response;
    /** Put around each handler. */
    frame?: (handler: Handler<E>) => Handler<E>;
  },
): void {
  const { handlers, refuse, frame = (handler) => handler } = host;
  const { title, endpoints } = host.contract;
  const methodsAt = new Map<string, string[]>();
  for (const endpoint of endpoints) {
    const handler = handlers[endpoint.id];
    if (!handler) throw new Error(`${title}: nothing handles ${endpoint.id}`);
    const path = pathOf(endpoint, host.apiPrefix).replaceAll(/\{(\w+)\}/g, ':$1');
    const method = endpoint.method.toUpperCase();
    app.on(method, path, frame(handler));
    // Whoever answers GET answers HEAD.
    methodsAt.set(path, [...(methodsAt.get(path) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  }
  for (const [path, methods] of methodsAt) {
    const refuseMethod = (context: Context) => {
      const { method, path } = context.req;
      return refuse(context, { code: 'method_not_allowed', method, path, allowed: [...methods, 'OPTIONS'] });
    };
    app.all(path, frame(refuseMethod));
  }
  const unknown = Object.keys(handlers).filter((id) => !endpoints.some((endpoint) => endpoint.id === id));
  if (unknown.length > 0) throw new Error(`${title}: the contract lacks ${unknown.join(', ')}`);
}

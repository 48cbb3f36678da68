/** What every host of the service has around its routes: request ids, HTTPS, CORS, its own description, 404 and 500. */
import { type Context, Hono } from 'hono';
import { type Database, isDatabaseUnavailable } from '../../ledger/database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { rootMessage } from '../../lib/root-cause.ts';
import type { RequestRefusal } from '../events/refusals.ts';
import type { ApiDocument } from '../openapi/document.ts';
import { apiReference } from '../reference/api-reference.ts';
import type { ProxyTrust } from './client-address.ts';
import { cors } from './cors.ts';
import { httpsOnly } from './https-only.ts';
import { requestNotes } from './request-notes.ts';
import type { RequestRecord, RequestVariables } from './request-record.ts';

export interface HostFrameDeps {
  database: Database;
  clock: Clock;
  random: Random;
  log: Log;
  proxies: ProxyTrust;
  /** Hosts of the service itself. */
  ownHosts: readonly string[];
  /** Keeps what happened to each request; left out where nobody asks. */
  onRequest?: (record: RequestRecord) => void;
  settings: {
    /** Plain HTTP is refused. */
    httpsOnly: boolean;
  };
}

/** What may be said without knowing what a request wanted. */
export type FrameRefusal = Extract<
  RequestRefusal,
  { code: 'unknown_endpoint' | 'https_required' | 'database_unavailable' | 'internal_error' }
>;

/** `refuse` answers in the host's own form; `describe` makes its OpenAPI document; `routes` adds the rest. */
export function createHostFrame(
  deps: HostFrameDeps,
  host: {
    refuse: (context: Context, refusal: FrameRefusal) => Response;
    describe: () => ApiDocument;
    routes: (app: Hono<RequestVariables>) => void;
  },
): Hono<RequestVariables> {
  const app = new Hono<RequestVariables>();
  const mustBeHttps = deps.settings.httpsOnly;
  app.use(requestNotes(deps));
  if (mustBeHttps) {
    const refuse = (context: Context) => host.refuse(context, { code: 'https_required' });
    app.use(httpsOnly({ trust: deps.proxies, refuse }));
  }
  app.use(cors({ ...deps, httpsOnly: mustBeHttps }));

  host.routes(app);
  const reference = apiReference(host.describe);
  app.get('/openapi.json', reference.json);
  app.get('/docs', reference.page);
  app.all('*', (context) => {
    const { method, path } = context.req;
    return host.refuse(context, { code: 'unknown_endpoint', method, path });
  });
  app.onError((error, context) => {
    deps.log.error({ path: context.req.path, error: rootMessage(error) }, 'a request failed');
    const code = isDatabaseUnavailable(error) ? 'database_unavailable' : 'internal_error';
    return host.refuse(context, { code });
  });
  return app;
}

/** The event handler host: routes only (contract: Endpoints). */
import { Hono } from 'hono';
import type { AnswerOnceDeps } from '../../actions/answer-once.ts';
import type { RewardEventDeps } from '../../actions/reward-event.ts';
import type { VerifyDnsDeps } from '../../actions/verify-dns.ts';
import type { ChainClient } from '../../chain/client.ts';
import type { RewardToken } from '../../chain/reward-token.ts';
import { isDatabaseUnavailable } from '../../ledger/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { ProxyTrust } from '../client-address.ts';
import { clientScriptPath, createClientScript } from '../client-script.ts';
import { apiReference } from '../handlers/api-reference.ts';
import { bulkEvents } from '../handlers/bulk-events.ts';
import { eventConfig } from '../handlers/event-config.ts';
import { manualEvent } from '../handlers/manual-event.ts';
import { statusHandlers } from '../handlers/status.ts';
import { userBalance } from '../handlers/user-balance.ts';
import { verifyDnsHandler } from '../handlers/verify-dns.ts';
import { cors } from '../middleware/cors.ts';
import { httpsOnly } from '../middleware/https-only.ts';
import { requestNotes } from '../middleware/request-notes.ts';
import { eventsApi } from '../openapi/events-api.ts';
import type { Refuser } from '../refuse.ts';
import type { RequestRecord, RequestVariables } from '../request-record.ts';

export interface EventsHostDeps extends AnswerOnceDeps, VerifyDnsDeps {
  chain: Pick<ChainClient, 'block'>;
  token: RewardToken;
  identityReady: () => Promise<boolean>;
  clock: Clock;
  log: Log;
  rewarding: RewardEventDeps;
  refuser: Refuser;
  proxies: ProxyTrust;
  /** Hosts of the service itself. */
  ownHosts: readonly string[];
  /** Keeps what happened to each request; left out where nobody asks. */
  onRequest?: (record: RequestRecord) => void;
  settings: {
    /** Path in front of the event handler's endpoints. */
    apiPrefix: string;
    /** The contract's limit for a request body. */
    bodyLimitBytes: number;
    /** Host under which users of chat platforms get their stand-in e-mail. */
    ownDomain: string;
    /** Plain HTTP is refused. */
    httpsOnly: boolean;
    workerVersion: string;
  };
}

export function createEventsHost(deps: EventsHostDeps): Hono<RequestVariables> {
  const { refuser, settings } = deps;
  const app = new Hono<RequestVariables>();
  const api = new Hono<RequestVariables>();

  app.use(requestNotes(deps));
  if (settings.httpsOnly) {
    app.use(
      httpsOnly({
        trust: deps.proxies,
        refuse: (context) => refuser.answer(context, { code: 'https_required' }),
      }),
    );
  }
  app.use(cors({ ...deps, httpsOnly: settings.httpsOnly }));

  const status = statusHandlers(deps);
  const balance = userBalance(deps);
  api.post('/manual-event', manualEvent(deps));
  api.post('/bulk-events', bulkEvents(deps));
  api.get('/event-config', eventConfig(deps));
  api.get('/user-balance', balance.get);
  api.post('/user-balance', balance.post);
  api.get('/health', status.health);
  api.get('/diagnostic', status.diagnostic);
  api.get('/debug', status.debug);
  api.post('/verify-dns', verifyDnsHandler(deps));

  const script = createClientScript({ path: clientScriptPath(), apiPrefix: settings.apiPrefix });
  app.get('/sdk.js', (context) => script.serve(context.req.raw));
  const reference = apiReference(() => eventsApi({ serverUrl: '/', ...settings }));
  app.get('/openapi.json', reference.json);
  app.get('/docs', reference.page);
  app.route(settings.apiPrefix, api);
  app.all('*', (context) =>
    refuser.answer(context, { code: 'unknown_endpoint', method: context.req.method, path: context.req.path }),
  );
  app.onError((error, context) => {
    deps.log.error({ path: context.req.path, error: error.message }, 'a request failed');
    const code = isDatabaseUnavailable(error) ? 'database_unavailable' : 'internal_error';
    return refuser.answer(context, { code });
  });
  return app;
}

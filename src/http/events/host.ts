/** The event handler host: routes only (contract: Endpoints). */
import { Hono } from 'hono';
import type { AnswerOnceDeps } from '../../actions/answer-once.ts';
import type { VerifyDnsDeps } from '../../actions/brands/verify-dns.ts';
import type { RewardEventDeps } from '../../actions/events/reward-event.ts';
import type { RewardToken } from '../../chain/contracts/reward-token.ts';
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Clock } from '../../lib/clock.ts';
import { createHostFrame, type HostFrameDeps } from '../frame/host-frame.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { eventsApi } from '../openapi/events-api.ts';
import { bulkEvents } from './bulk-events.ts';
import { clientScriptPath, createClientScript } from './client-script.ts';
import { eventConfig } from './event-config.ts';
import { manualEvent } from './manual-event.ts';
import { statusHandlers } from './status.ts';
import { userBalance } from './user-balance.ts';
import { verifyDnsHandler } from './verify-dns.ts';

export interface EventsHostDeps extends HostFrameDeps, AnswerOnceDeps, VerifyDnsDeps {
  chain: Pick<ChainClient, 'block'>;
  token: RewardToken;
  identityReady: () => Promise<boolean>;
  clock: Clock;
  rewarding: RewardEventDeps;
  refuser: Refuser;
  settings: HostFrameDeps['settings'] & {
    /** Path in front of the event handler's endpoints. */
    apiPrefix: string;
    /** The contract's limit for a request body. */
    bodyLimitBytes: number;
    /** Host under which users of chat platforms get their stand-in e-mail. */
    ownDomain: string;
    workerVersion: string;
  };
}

export function createEventsHost(deps: EventsHostDeps): Hono<RequestVariables> {
  const { refuser, settings } = deps;
  const api = new Hono<RequestVariables>();
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

  return createHostFrame(deps, {
    refuse: (context, refusal) => refuser.answer(context, refusal),
    describe: () => eventsApi({ serverUrl: '/', ...settings }),
    routes(app) {
      app.get('/sdk.js', (context) => script.serve(context.req.raw));
      app.route(settings.apiPrefix, api);
    },
  });
}

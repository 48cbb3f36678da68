/** The past requests of a production service: the control API's routes without a server. */
import type { Handler } from 'hono';
import { readEventState } from '../../actions/events/read-event-state.ts';
import { requestEndpoints } from '../../contract/control/endpoints.ts';
import { refuse } from '../../http/control/refuse.ts';
import { withRewards } from '../../http/control/request-summary.ts';
import { requestFilter } from '../../http/control/requests.ts';
import type { Database } from '../../ledger/database/database.ts';
import { findRequestTraces, listRequestTraces, type RequestTrace } from '../../ledger/request-traces.ts';
import { systemClock } from '../../lib/clock.ts';
import { detailOf } from '../requests/kept-request.ts';
import { type ControlRoutes, controlRoutes } from './control-routes.ts';
import type { OpenLedger } from './open-ledger.ts';

/** More than are ever named in an answer. */
const FOUND_MAX = 6;

/** `userHash` is absent where the key of the hashes is not known. Throws what `controlRoutes` throws. */
export const requestRoutes = (
  ledger: OpenLedger,
  userHash: ((userKey: string) => string) | undefined,
): Promise<ControlRoutes> =>
  controlRoutes(ledger, {
    title: 'Requests',
    endpoints: requestEndpoints,
    handlers: handlersOn(ledger.database, userHash),
  });

/** What rows of earlier versions lack. */
const OF_EARLIER = {
  ...{ host: null, credential: null, requestHeaders: {}, responseHeaders: {} },
  requestBodyKept: 'not kept',
};

/** Rows of earlier versions lack the ids of their events. */
interface TraceDetail extends Record<string, unknown> {
  explained: { eventId?: string | null }[];
}

const described = (row: RequestTrace) =>
  ({ ...OF_EARLIER, ...detailOf(row, systemClock().now()) }) as TraceDetail & typeof OF_EARLIER;

function handlersOn(
  database: Database,
  userHash: ((userKey: string) => string) | undefined,
): Record<string, Handler> {
  return {
    async listRequests(context) {
      const wanted = requestFilter(context.req.query());
      if (!wanted) return refuse(context, { code: 'invalid_filter' });
      const { status, host, brand, decision, method, path, user, limit, after } = wanted;
      const hash = user === undefined ? undefined : (userHash?.(user.toLowerCase()) ?? user);
      const found = await listRequestTraces(database.db, {
        ...{ status, host, brand, decision, method, path, limit, after },
        userHash: hash,
      });
      return context.json({ requests: found.map(described) });
    },
    async showRequest(context) {
      const name = context.req.param('id') ?? '';
      const found = await findRequestTraces(database.db, name, FOUND_MAX);
      const [trace, ...more] = found;
      if (!trace) return refuse(context, { code: 'request_not_found', name });
      if (more.length > 0) {
        const ids = found.map(({ id }) => id);
        return refuse(context, { code: 'request_ambiguous', name, count: found.length, ids });
      }
      return context.json(
        await withRewards(described(trace), (eventId) => readEventState({ database }, eventId)),
      );
    },
  };
}

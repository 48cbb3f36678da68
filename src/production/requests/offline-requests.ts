/** Looks back on a production service's requests in its database, through the control API's routes without a server. */
import { type Handler, Hono } from 'hono';
import { readEventState } from '../../actions/events/read-event-state.ts';
import { startProblem, whereIs } from '../../compose/start-problem.ts';
import { requestEndpoints } from '../../contract/control/endpoints.ts';
import { refuse } from '../../http/control/refuse.ts';
import { withRewards } from '../../http/control/request-summary.ts';
import { requestFilter } from '../../http/control/requests.ts';
import { mount } from '../../http/frame/host-frame.ts';
import type { Database } from '../../ledger/database/database.ts';
import { findRequestTraces, listRequestTraces } from '../../ledger/request-traces.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLog } from '../../lib/log.ts';
import { openLedgerAt } from '../create-production.ts';

/** More than are ever named in an answer. */
const FOUND_MAX = 6;

/** `userHash` is absent where the key of the hashes is not known. */
export async function openOfflineRequests(
  databaseUrl: string,
  userHash: ((userKey: string) => string) | undefined,
) {
  const { database, release } = await openLedgerAt(databaseUrl, silentLog);
  const app = new Hono().basePath('/_rewards');
  const contract = { title: 'Requests', endpoints: requestEndpoints };
  mount(app, { apiPrefix: '', contract, handlers: handlersOn(database, userHash), refuse });
  let failure: unknown;
  app.onError((error, context) => {
    failure = error;
    return context.json({ success: false, error: 'the database cannot be read' }, 500);
  });
  return {
    async fetch(request: Request): Promise<Response> {
      const response = await app.fetch(request);
      if (failure) throw startProblem(failure, { databaseUrl });
      return response;
    },
    /** The database's address without its secrets. */
    where: databaseUrl.startsWith('sqlite:') ? databaseUrl : `postgres://${whereIs(databaseUrl)}`,
    async close() {
      await database.close();
      await release();
    },
  };
}

/** As `request-traces.ts` writes it; rows of earlier versions lack the ids of their events. */
interface TraceDetail extends Record<string, unknown> {
  explained: { eventId?: string | null }[];
}

function handlersOn(
  database: Database,
  userHash: ((userKey: string) => string) | undefined,
): Record<string, Handler> {
  return {
    async listRequests(context) {
      const wanted = requestFilter(context.req.query());
      if (!wanted) return refuse(context, { code: 'invalid_filter' });
      const { status, method, path, user, limit, after } = wanted;
      const hash = user === undefined ? undefined : (userHash?.(user.toLowerCase()) ?? user);
      const found = await listRequestTraces(database.db, {
        ...{ status, method, path, limit, after },
        userHash: hash,
      });
      return context.json({ requests: found.map(({ detail }) => detail) });
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
      const detail = { ...(trace.detail as TraceDetail), now: new Date(systemClock().now()).toISOString() };
      return context.json(await withRewards(detail, (eventId) => readEventState({ database }, eventId)));
    },
  };
}

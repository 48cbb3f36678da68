/** The past requests of a production service: the control API's routes without a server. */
import { readEventState } from '../../actions/events/read-event-state.ts';
import { listRequests, type RequestDetail, showRequest } from '../../contract/control/requests.ts';
import { type ControlRoute, controlHandler } from '../../http/control/control-handler.ts';
import { withRewards } from '../../http/control/requests.ts';
import type { Database } from '../../ledger/database/database.ts';
import { findRequestTraces, listRequestTraces, type RequestTrace } from '../../ledger/request-traces.ts';
import { systemClock } from '../../lib/clock.ts';
import { detailOf } from '../requests/kept-request.ts';

/** More than are ever named in an answer. */
const FOUND_MAX = 6;

/** Resolves with the hash of users' keys; with undefined where the key of the hashes is not known. */
export type UserHash = () => Promise<((userKey: string) => string) | undefined>;

/** What rows of earlier versions lack; they lack the ids of their events as well. */
const OF_EARLIER = {
  host: null,
  credential: null,
  requestHeaders: {},
  responseHeaders: {},
  requestBodyKept: 'not kept',
};

const described = (row: RequestTrace) =>
  ({ ...OF_EARLIER, ...detailOf(row, systemClock().now()) }) as unknown as RequestDetail;

export const ledgerRequests = (database: Database, userHash: UserHash): ControlRoute[] => [
  controlHandler(listRequests, async ({ query: { status = '', user, ...wanted } }) => {
    const hash = user === undefined ? undefined : await userHash();
    const found = await listRequestTraces(database.db, {
      ...wanted,
      status,
      userHash: user === undefined ? undefined : (hash?.(user.toLowerCase()) ?? user),
    });
    return { requests: found.map(described) };
  }),
  controlHandler(showRequest, async ({ path: { id: name } }) => {
    const found = await findRequestTraces(database.db, name, FOUND_MAX);
    const [trace, ...more] = found;
    if (!trace) return { refusal: { code: 'request_not_found', name } };
    if (more.length > 0) {
      const ids = found.map(({ id }) => id);
      return { refusal: { code: 'request_ambiguous', name, count: found.length, ids } };
    }
    return withRewards(described(trace), (eventId) => readEventState({ database }, eventId));
  }),
];

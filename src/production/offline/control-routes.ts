/** Answers a part of the control API from a production ledger, without a server: the endpoints with `onLedger`, and its past requests. */
import { Hono } from 'hono';
import { readEventState } from '../../actions/events/read-event-state.ts';
import type { Alarm } from '../../chain/alarms.ts';
import { settings } from '../../compose/config.ts';
import { controlEndpoints } from '../../contract/control/endpoints.ts';
import { listRequests, type RequestDetail, showRequest } from '../../contract/control/requests.ts';
import { controlBrands } from '../../http/control/brands.ts';
import { ledgerConstraints } from '../../http/control/constraints.ts';
import { type ControlRoute, controlHandler, handlersOf, refuse } from '../../http/control/control-handler.ts';
import { controlHistory } from '../../http/control/history.ts';
import { controlMints } from '../../http/control/mints.ts';
import { controlOverview } from '../../http/control/overview.ts';
import { controlPerks } from '../../http/control/perks.ts';
import { controlRelay } from '../../http/control/relay.ts';
import { withRewards } from '../../http/control/requests.ts';
import { controlAliases } from '../../http/control/users.ts';
import { controlWebhooks } from '../../http/control/webhooks.ts';
import { mount } from '../../http/frame/host-frame.ts';
import type { Database } from '../../ledger/database/database.ts';
import { pendingMigrations } from '../../ledger/database/migrate.ts';
import { findRequestTraces, listRequestTraces, type RequestTrace } from '../../ledger/request-traces.ts';
import { systemClock } from '../../lib/clock.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import { secureRandom } from '../../lib/ids.ts';
import type { Reach } from '../../outgoing/target.ts';
import { detailOf } from '../requests/kept-request.ts';
import { type OpenLedger, refuseEmulatorLedger } from './open-ledger.ts';

/** What the operator names for `start` too. */
export interface OwnReach {
  /** Networks that are not public. */
  networks: readonly string[];
  /** Ports beside 443. */
  ports: readonly number[];
}

const publicReach = ({ networks, ports }: OwnReach): Reach => ({ to: 'public', ports, networks });

/** More than are ever named in an answer. */
const FOUND_MAX = 6;

/** Resolves with the hash of users' keys; with undefined where the key of the hashes is not known. */
type UserHash = () => Promise<((userKey: string) => string) | undefined>;

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

/** The past requests of a production service: the control API's routes without a server. */
const ledgerRequests = (database: Database, userHash: UserHash): ControlRoute[] => [
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

/** Takes requests below `/_rewards`. Rejects with a PreconditionError when the database cannot be used. */
type ControlRoutes = (request: Request) => Promise<Response>;

/** What the operator names for `start` too. */
export interface LedgerService {
  reach: OwnReach;
  ownDomain: string;
  userHash: UserHash;
  /** Of a running service; without them nobody knows. */
  alarms?: (() => Alarm[]) | undefined;
}

/**
 * A running service goes by the same rows and finds by itself what is due. Throws a PreconditionError for a ledger that is
 * not production's, or whose tables are not there yet.
 */
export async function controlRoutes(
  { database, asked, where }: OpenLedger,
  { reach, ownDomain, userHash, alarms }: LedgerService,
): Promise<ControlRoutes> {
  await asked(async () => {
    await refuseEmulatorLedger(database);
    const pending = await pendingMigrations(database);
    if (pending.length > 0) throw migrationsPending(where, pending);
  });
  const clock = systemClock();
  const clockState = () => ({ nowMs: clock.now(), frozen: false, offsetMs: 0 });
  const deps = {
    database,
    clock,
    random: secureRandom(clock),
    reach: publicReach(reach),
    businessTime: () => database.now,
    ownDomain,
    serviceName: settings.serviceName,
    keyEnvironment: 'live',
    loopbackDomains: false,
    defaultsFor: 'production',
    maySeeSecrets: () => true,
    alarms,
  } as const;
  const routes = [
    ...controlOverview({ ...deps, clockState }),
    ...controlHistory({ database, clockState }),
    ...controlBrands(deps),
    ...controlAliases(deps),
    ...controlMints(deps),
    ...controlWebhooks(deps),
    ...controlRelay({ ...deps, limits: settings.relayHost }),
    ...controlPerks(deps),
    ...ledgerConstraints(deps),
    ...ledgerRequests(database, userHash),
  ];
  const endpoints = controlEndpoints.filter(({ parts }) => parts.onLedger);
  const app = new Hono().basePath('/_rewards');
  mount(app, {
    apiPrefix: '',
    contract: { title: 'Ledger', endpoints },
    handlers: handlersOf(routes),
    refuse,
  });
  // The caller is in this process, so that it gets the error itself.
  app.onError((error) => {
    throw error;
  });
  return (request) => asked(async () => app.fetch(request));
}

/** The ledger's tables are those of an earlier version. */
export const migrationsPending = (where: string, pending: string[]) =>
  new PreconditionError({
    code: 'E_MIGRATIONS_PENDING',
    message: `The database at ${where} lacks ${pending.join(', ')}.`,
    fix: 'Run `rewards db migrate` with the same address first.',
  });

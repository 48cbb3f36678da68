/** Answers a part of the control API from a production ledger, without a server: the endpoints with `onLedger`. */
import { Hono } from 'hono';
import { settings } from '../../compose/config.ts';
import { controlEndpoints } from '../../contract/control/endpoints.ts';
import { controlBrands } from '../../http/control/brands.ts';
import { ledgerConstraints } from '../../http/control/constraints.ts';
import { handlersOf, refuse } from '../../http/control/control-handler.ts';
import { controlMints } from '../../http/control/mints.ts';
import { controlPerks } from '../../http/control/perks.ts';
import { controlAliases } from '../../http/control/users.ts';
import { controlWebhooks } from '../../http/control/webhooks.ts';
import { mount } from '../../http/frame/host-frame.ts';
import { pendingMigrations } from '../../ledger/database/migrate.ts';
import { systemClock } from '../../lib/clock.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import { secureRandom } from '../../lib/ids.ts';
import { type OpenLedger, refuseEmulatorLedger } from './open-ledger.ts';
import { type OwnReach, publicReach } from './public-reach.ts';
import { ledgerRequests, type UserHash } from './request-routes.ts';

/** Takes requests below `/_rewards`. Rejects with a PreconditionError when the database cannot be used. */
export type ControlRoutes = (request: Request) => Promise<Response>;

/** What the operator names for `start` too. */
export interface LedgerService {
  reach: OwnReach;
  ownDomain: string;
  userHash: UserHash;
}

/**
 * A running service goes by the same rows and finds by itself what is due. Throws a PreconditionError for a ledger that is
 * not production's, or whose tables are not there yet.
 */
export async function controlRoutes(
  { database, asked, where }: OpenLedger,
  { reach, ownDomain, userHash }: LedgerService,
): Promise<ControlRoutes> {
  await asked(async () => {
    await refuseEmulatorLedger(database);
    const pending = await pendingMigrations(database);
    if (pending.length > 0) throw migrationsPending(where, pending);
  });
  const clock = systemClock();
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
  } as const;
  const routes = [
    ...controlBrands(deps),
    ...controlAliases(deps),
    ...controlMints(deps),
    ...controlWebhooks(deps),
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

/** Manages brands directly in a Postgres database, through the control API's routes without a server. */
import { Hono } from 'hono';
import { settings } from '../compose/config.ts';
import { PreconditionError } from '../compose/precondition.ts';
import { startProblem, whereIs } from '../compose/start-problem.ts';
import { brandEndpoints } from '../contract/control/endpoints.ts';
import { controlBrands } from '../http/control/brands.ts';
import { refuse } from '../http/control/refuse.ts';
import { mount } from '../http/frame/host-frame.ts';
import { pendingMigrations } from '../ledger/database/migrate.ts';
import { systemClock } from '../lib/clock.ts';
import { secureRandom } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { openLedgerAt } from './create-production.ts';
import { refuseEmulatorLedger } from './offline-ledger.ts';

/** Throws a PreconditionError: E_DATABASE_UNREACHABLE, E_MIGRATIONS_PENDING. */
export async function openOfflineBrands(databaseUrl: string) {
  const { database, release } = await openLedgerAt(databaseUrl, silentLog);
  const close = async () => {
    await database.close();
    await release();
  };
  try {
    await refuseEmulatorLedger(database);
    const pending = await pendingMigrations(database);
    if (pending.length > 0) throw migrationsPending(databaseUrl, pending);
    const clock = systemClock();
    const brands = controlBrands({
      database,
      clock,
      random: secureRandom(clock),
      serviceName: settings.serviceName,
      keyEnvironment: 'live',
      loopbackDomains: false,
      defaultsFor: 'production',
      maySeeSecrets: () => true,
    });
    const app = new Hono().basePath('/_rewards');
    const contract = { title: 'Brands', endpoints: brandEndpoints };
    mount(app, { apiPrefix: '', contract, handlers: brands, refuse });
    app.onError((error, context) =>
      context.json({ success: false, error: error.message, message: 'Nothing was changed.' }, 500),
    );
    return {
      /** Answers the control API's requests below `/_rewards/brands`. */
      fetch: async (request: Request): Promise<Response> => app.fetch(request),
      /** The database's address without its secrets. */
      where: `postgres://${whereIs(databaseUrl)}`,
      close,
    };
  } catch (error) {
    await close();
    throw startProblem(error, { databaseUrl });
  }
}

const migrationsPending = (databaseUrl: string, pending: string[]) =>
  new PreconditionError({
    code: 'E_MIGRATIONS_PENDING',
    message: `The database at ${whereIs(databaseUrl)} lacks ${pending.join(', ')}.`,
    fix: 'Run `rewards db migrate` with the same --database-url first.',
  });

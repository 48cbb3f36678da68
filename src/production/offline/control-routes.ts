/** Answers a part of the control API from a production ledger, without a server. */
import { type Handler, Hono } from 'hono';
import type { Endpoint } from '../../contract/endpoint.ts';
import { refuse } from '../../http/control/refuse.ts';
import { mount } from '../../http/frame/host-frame.ts';
import { pendingMigrations } from '../../ledger/database/migrate.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import { type OpenLedger, refuseEmulatorLedger } from './open-ledger.ts';

/** Takes requests below `/_rewards`. Rejects with a PreconditionError when the database cannot be used. */
export type ControlRoutes = (request: Request) => Promise<Response>;

/** Throws a PreconditionError for a ledger that is not production's, or whose tables are not there yet. */
export async function controlRoutes(
  { database, asked, where }: OpenLedger,
  {
    title,
    endpoints,
    handlers,
  }: { title: string; endpoints: readonly Endpoint[]; handlers: Record<string, Handler> },
): Promise<ControlRoutes> {
  await asked(async () => {
    await refuseEmulatorLedger(database);
    const pending = await pendingMigrations(database);
    if (pending.length > 0) throw migrationsPending(where, pending);
  });
  const app = new Hono().basePath('/_rewards');
  mount(app, { apiPrefix: '', contract: { title, endpoints }, handlers, refuse });
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

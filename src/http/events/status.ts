/** GET health, diagnostic and debug (contract: Endpoints). */
import type { Handler } from 'hono';
import { reportHealth } from '../../actions/report-health.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import type { EventsHostDeps } from './host.ts';

export function statusHandlers(
  deps: EventsHostDeps,
): Record<'health' | 'diagnostic' | 'debug', Handler<RequestVariables>> {
  const { clock, refuser } = deps;
  const timestamp = () => new Date(clock.now()).toISOString();
  return {
    async health(context) {
      const { healthy, services } = await reportHealth(deps);
      if (services.database !== 'connected') return refuser.answer(context, { code: 'database_unavailable' });
      return context.json({ status: healthy ? 'healthy' : 'degraded', timestamp: timestamp(), services });
    },
    async diagnostic(context) {
      const { healthy, services } = await reportHealth(deps);
      if (services.database !== 'connected') return refuser.answer(context, { code: 'database_unavailable' });
      return context.json({ status: healthy ? 'healthy' : 'degraded', ...services, timestamp: timestamp() });
    },
    debug: (context) =>
      context.json({
        debug: 'rewards event handler',
        hostname: new URL(context.req.url).hostname,
        path: context.req.path,
        method: context.req.method,
        timestamp: timestamp(),
        worker_version: deps.settings.workerVersion,
      }),
  };
}

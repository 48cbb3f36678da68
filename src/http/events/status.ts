/** GET health, diagnostic and debug (contract: Endpoints). */
import type { Handler } from 'hono';
import type { Health } from '../../actions/report-health.ts';
import type { Clock } from '../../lib/clock.ts';
import { jsonAnswer } from '../frame/answer.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import type { EventsRefuser } from './refuser.ts';

export interface StatusDeps {
  /** `actions/report-health` with its deps bound. */
  reportHealth: () => Promise<Health>;
  refuser: Pick<EventsRefuser, 'answer'>;
  clock: Pick<Clock, 'now'>;
  settings: { workerVersion: string };
}

export function statusHandlers(
  deps: StatusDeps,
): Record<'health' | 'diagnostic' | 'debug', Handler<RequestVariables>> {
  const { clock, refuser } = deps;
  const timestamp = () => new Date(clock.now()).toISOString();
  return {
    async health(context) {
      const { healthy, services } = await deps.reportHealth();
      if (services.database !== 'connected') return refuser.answer(context, { code: 'database_unavailable' });
      return jsonAnswer(context, {
        status: healthy ? 'healthy' : 'degraded',
        timestamp: timestamp(),
        services,
      });
    },
    async diagnostic(context) {
      const { healthy, services } = await deps.reportHealth();
      if (services.database !== 'connected') return refuser.answer(context, { code: 'database_unavailable' });
      return jsonAnswer(context, {
        status: healthy ? 'healthy' : 'degraded',
        ...services,
        timestamp: timestamp(),
      });
    },
    debug: (context) =>
      jsonAnswer(context, {
        debug: 'rewards event handler',
        hostname: new URL(context.req.url).hostname,
        path: context.req.path,
        method: context.req.method,
        timestamp: timestamp(),
        worker_version: deps.settings.workerVersion,
      }),
  };
}

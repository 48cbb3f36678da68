/** The operator's listener: liveness, readiness and metrics. Never reachable by users. */
import { Hono } from 'hono';
import { tidyPath } from './frame/tidy-path.ts';

export interface AdminHostDeps {
  /** Why no traffic should come here now; empty when it may. */
  notReady: () => Promise<string[]>;
  /** Who sends what the ledger's brands need, by lane; undefined before that is known. */
  workers?: () => Record<string, string> | undefined;
  /** In the text format of Prometheus. */
  metrics: () => Promise<{ contentType: string; text: string }>;
}

export function createAdminHost(deps: AdminHostDeps): Hono {
  const app = new Hono({ getPath: tidyPath });
  // Says only that the process answers: a fault outside it must not restart it.
  app.get('/livez', (context) => context.json({ status: 'alive' }));
  app.get('/readyz', async (context) => {
    const reasons = await deps.notReady();
    return context.json(
      { status: reasons.length === 0 ? 'ready' : 'not ready', reasons, workers: deps.workers?.() },
      reasons.length === 0 ? 200 : 503,
    );
  });
  app.get('/metrics', async () => {
    const { contentType, text } = await deps.metrics();
    return new Response(text, { headers: { 'content-type': contentType } });
  });
  app.all('*', (context) => context.json({ error: 'Not found' }, 404));
  return app;
}

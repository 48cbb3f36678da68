/** The operator's listener: liveness, readiness and metrics. Never reachable by users. */
import { Hono } from 'hono';
import { jsonAnswer } from './frame/answer.ts';
import { tidyPath } from './frame/host-frame.ts';

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
  app.get('/livez', (context) => jsonAnswer(context, { status: 'alive' }));
  app.get('/readyz', async (context) => {
    const reasons = await deps.notReady();
    const [said, status] = reasons.length === 0 ? (['ready', 200] as const) : (['not ready', 503] as const);
    return jsonAnswer(context, { status: said, reasons, workers: deps.workers?.() }, { status });
  });
  app.get('/metrics', async () => {
    const { contentType, text } = await deps.metrics();
    return new Response(text, { headers: { 'content-type': contentType } });
  });
  app.all('*', (context) => jsonAnswer(context, { error: 'Not found' }, { status: 404 }));
  return app;
}

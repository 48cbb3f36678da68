/** The operator's listener: liveness, readiness and metrics. Never reachable by users. */
import { type Context, Hono } from 'hono';
import { jsonAnswer } from './frame/answer.ts';
import { tidyPath } from './frame/host-frame.ts';

export type LookAt = (request: Request) => Promise<Response>;

export interface AdminHostDeps {
  /** Why no traffic should come here now; empty when it may. */
  notReady: () => Promise<string[]>;
  /** Who sends what the ledger's brands need, by lane; undefined before that is known. */
  workers?: () => Record<string, string> | undefined;
  /** In the text format of Prometheus. */
  metrics: () => Promise<{ contentType: string; text: string }>;
  /** The operator's pages; undefined before the service is there. */
  pages?: () => LookAt | undefined;
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
  app.get('/', (context) => context.redirect('/_rewards/', 302));
  app.get('/_rewards/*', (context) => lookedAt(deps, context));
  app.get('/_rewards', (context) => lookedAt(deps, context));
  app.all('*', (context) => jsonAnswer(context, { error: 'Not found' }, { status: 404 }));
  return app;
}

/** Numbers are addresses, which nobody else's name can be made to mean. */
const isAddress = (host: string) => /^[\d.]+$|^\[/.test(host);

/** A browser may ask under no other name, which keeps pages of other sites out (DNS rebinding). */
async function lookedAt({ pages }: AdminHostDeps, context: Context): Promise<Response> {
  const { hostname } = new URL(`http://${context.req.header('host') ?? ''}`);
  if (!isAddress(hostname) && hostname !== 'localhost') {
    return jsonAnswer(
      context,
      {
        error: `${hostname} is no name of this listener: ask by its address, or as localhost through a forwarded port`,
      },
      { status: 403 },
    );
  }
  const look = pages?.();
  if (!look) return jsonAnswer(context, { error: 'Not ready yet' }, { status: 503 });
  return look(context.req.raw);
}

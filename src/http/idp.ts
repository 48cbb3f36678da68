/** What the emulator's identity provider publishes: discovery and keys (OpenID Connect Discovery, RFC 7517). */
import { Hono } from 'hono';
import type { TokenIssuer } from '../identity/tokens.ts';
import { jsonAnswer } from './frame/answer.ts';
import { tidyPath } from './frame/host-frame.ts';

export function createIdpHost({ issuer }: { issuer: Pick<TokenIssuer, 'keys' | 'configuration'> }): Hono {
  const app = new Hono({ getPath: tidyPath });
  // Not cached, so that the next request sees a rotation.
  app.use(async (context, next) => {
    await next();
    context.header('cache-control', 'no-store');
  });
  app.get('/.well-known/openid-configuration', (context) => jsonAnswer(context, issuer.configuration()));
  app.get('/jwks', (context) => jsonAnswer(context, { keys: issuer.keys() }));
  app.all('*', (context) => jsonAnswer(context, { error: 'not_found' }, { status: 404 }));
  return app;
}

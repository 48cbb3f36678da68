/** GET openapi.json and GET docs: a host's own description, for programs and for people. */
import type { Context } from 'hono';
import { cacheableAnswer, entityTagOf } from '../frame/entity-tag.ts';
import type { ApiDocument } from '../openapi.ts';
import { pagePolicy, type ReferenceLink, referencePage } from './reference-page.ts';

/** For any host: `describe` makes its document at the first request for it. */
export function apiReference(
  describe: () => ApiDocument,
  references: readonly ReferenceLink[] = [],
): Record<'openapi' | 'docs', (context: Context) => Response> {
  const json = once(() => named(JSON.stringify(describe()), { 'content-type': 'application/json' }));
  const page = once(() =>
    named(referencePage(describe(), references), {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': pagePolicy,
      'referrer-policy': 'no-referrer',
    }),
  );
  return {
    openapi: ({ req }) => cacheableAnswer(req.raw, json()),
    docs: ({ req }) => cacheableAnswer(req.raw, page()),
  };
}

/** Browsers revalidate it every time; it is sent again only when the program has changed. */
const named = (text: string, headers: Record<string, string>) => ({
  text,
  etag: entityTagOf(text),
  headers: { ...headers, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' },
});

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** GET openapi.json and GET docs: a host's own description, for programs and for people. */
import type { Context } from 'hono';
import { entityTagOf, namesTag } from '../frame/entity-tag.ts';
import type { ApiDocument } from '../openapi.ts';
import { pagePolicy, type ReferenceLink, referencePage } from './reference-page.ts';

interface Answer {
  text: string;
  etag: string;
  headers: Record<string, string>;
}

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
  return { openapi: (context) => answer(context, json()), docs: (context) => answer(context, page()) };
}

const named = (text: string, headers: Record<string, string>): Answer => ({
  text,
  etag: entityTagOf(text),
  headers,
});

/** Browsers revalidate it every time; it is sent again only when the program has changed. */
function answer(context: Context, { text, etag, headers }: Answer): Response {
  const about = { ...headers, etag, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' };
  const known = namesTag(context.req.header('if-none-match'), etag);
  return known ? new Response(null, { status: 304, headers: about }) : new Response(text, { headers: about });
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

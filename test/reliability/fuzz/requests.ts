/** Requests of every shape: valid ones with one thing wrong, hostile ones, and pure noise. */
import fc from 'fast-check';
import { API, type Brand, bearer, open, shop } from '../../contract/kit.ts';

export interface FuzzedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\u202e',
    '\ud800',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'null',
    'true',
    '-1',
    '1e309',
    '0x0',
    '%00',
    '%',
    '../..',
    '{{7*7}}',
    "' or 1=1 --",
    '"; drop table rewards; --',
    '$1',
    '$' + '{x}',
    'a'.repeat(300),
    '٣',
    '\r\nX-Injected: 1',
    '\u0085',
    '\ufffe',
    '💥'.repeat(20),
  ),
);
const oddNumber = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, -0, -1, 1e308, 2 ** 53, 1e21));
const oddKey = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'skip_cooldown',
    'source',
    'channel_id',
    'order_total',
    'bot_username',
    'length',
    '0',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const oddValue = fc.oneof(
  { maxDepth: 3 },
  oddText,
  oddNumber,
  fc.constantFrom(true, false, null),
  fc.array(fc.oneof(oddText, oddNumber), { maxLength: 4 }),
  fc.dictionary(oddKey, fc.oneof(oddText, oddNumber, fc.constantFrom(true, null, {}, [])), { maxKeys: 4 }),
);

const person = fc.nat({ max: 400 }).map((n) => `fuzzed-${n}@people.example`);
const brand = fc.constantFrom(shop, open);
/** An event that would be rewarded. */
const validEvent = fc.tuple(brand, person).chain(([of, userEmail]) =>
  fc.record({
    brandId: fc.constant(of.brandId),
    domain: fc.constant(of.domain),
    eventType: eventTypeOf(of),
    userEmail: fc.constant(userEmail),
  }),
);
const eventTypeOf = (of: Brand) =>
  of === shop
    ? fc.constantFrom('once', 'twice', 'hourly', 'endless', 'three_in_all', 'custom_chat', 'order', 'asleep')
    : fc.constantFrom('once', 'hourly');

const field = fc.constantFrom(
  'brandId',
  'domain',
  'eventType',
  'userEmail',
  'sourceUrl',
  'userIdentifier',
  'metadata',
  'channel_id',
  'idempotencyKey',
  'permit',
  '__proto__',
  'constructor',
);
/** The same with up to three fields replaced by anything; `JSON.parse` would take it. */
const spoiledEvent = fc
  .tuple(
    validEvent,
    fc.array(fc.tuple(field, oddValue), { maxLength: 3 }),
    fc.dictionary(oddKey, oddValue, { maxKeys: 5 }),
  )
  .map(([event, changes, metadata]) => ({ ...event, metadata, ...Object.fromEntries(changes) }));
const event = fc.oneof({ weight: 2, arbitrary: validEvent }, { weight: 5, arbitrary: spoiledEvent });

/** JSON in which a `__proto__` that an object literal would swallow is really written. */
const asJson = (value: unknown) => JSON.stringify(value) ?? 'null';
const eventBody = event.map(asJson);
const bulkBody = fc.oneof(
  fc.array(event, { maxLength: 8 }).map((events) => asJson({ events })),
  oddValue.map((events) => asJson({ events })),
);
const smugglingBody = fc.constantFrom(
  `{"brandId":"${shop.brandId}","__proto__":{"polluted":true},"eventType":"once"}`,
  `{"brandId":"${shop.brandId}","constructor":{"prototype":{"polluted":true}}}`,
  `{"metadata":{"__proto__":{"polluted":true}}}`,
  `{"metadata":{"__pro\\u0000to__":{"polluted":true}},"brandId":"${shop.brandId}","domain":"shop.example","eventType":"endless","userEmail":"smuggler@people.example"}`,
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `{"metadata":${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}}`,
  `{"brandId":"${shop.brandId}","brandId":"x"}`,
  `{"events":${'['.repeat(100)}${']'.repeat(100)}}`,
  '\ufeff{}',
  'NaN',
  '{"a":1e400}',
);
const noise = fc.oneof(
  oddValue.map(asJson),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.integer({ min: 10_200, max: 10_300 }).map((length) => 'x'.repeat(length)),
);
const body = fc.oneof(
  { weight: 8, arbitrary: eventBody },
  { weight: 3, arbitrary: bulkBody },
  { weight: 1, arbitrary: smugglingBody },
  { weight: 2, arbitrary: noise },
);

/** Node writes no header with line breaks; everything else may be tried. */
const headerText = oddText.map((text) =>
  Buffer.from(text)
    .toString('latin1')
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, ''),
);
const header = fc.oneof(
  fc.tuple(
    fc.constant('origin'),
    fc.oneof(headerText, fc.constantFrom('null', 'https://shop.example', 'https://evil.example')),
  ),
  fc.tuple(
    fc.constant('authorization'),
    fc.oneof(headerText, fc.constantFrom(bearer(shop).authorization, 'Bearer ')),
  ),
  fc.tuple(fc.constant('idempotency-key'), fc.oneof(headerText, fc.constantFrom('k1', 'k2', 'k3'))),
  fc.tuple(
    fc.constant('content-type'),
    fc.oneof(headerText, fc.constantFrom('text/plain', 'application/json; charset=utf-16')),
  ),
  fc.tuple(fc.constant('content-encoding'), fc.constantFrom('gzip', 'identity', 'br', '')),
  fc.tuple(
    fc.constant('host'),
    fc.oneof(headerText, fc.constantFrom('evil.example', 'a b', '[', '127.0.0.1:x', '')),
  ),
  fc.tuple(
    fc.constantFrom('x-forwarded-for', 'x-forwarded-proto', 'if-none-match', 'accept', 'range', 'cookie'),
    headerText,
  ),
);
const json = { 'content-type': 'application/json' };
const headers = fc.array(header, { maxLength: 3 }).map((all) => ({ ...json, ...Object.fromEntries(all) }));

const posts = ['manual-event', 'bulk-events', 'user-balance', 'verify-dns'].map((name) => `${API}/${name}`);
const gets = ['event-config', 'user-balance', 'health', 'debug'].map((name) => `${API}/${name}`);
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom('brandId', 'userEmail', 'includeHistory', 'historyLimit', '__proto__', '%', '['),
      fc.oneof(oddText, fc.constantFrom(shop.brandId, 'true', '5')),
    ),
    { maxLength: 3 },
  )
  .map((pairs) =>
    pairs.map(([name, value]) => `${name}=${encodeURIComponent(Buffer.from(value).toString())}`).join('&'),
  );
/** What Node is willing to send in a request line. */
const anyPath = fc.oneof(
  oddText.map(
    (text) =>
      `/${Buffer.from(text)
        .toString('latin1')
        .replace(/[^\x21-\x7e\x80-\xff]/g, '')}`,
  ),
  fc.constantFrom(
    '//',
    '/%',
    '/%2e%2e/',
    `${API}/%ff`,
    `${API}//health`,
    '/?',
    '/#',
    'http://evil.example/',
    '*',
    `${API}/manual-event?x=%`,
  ),
);

export const fuzzedRequest: fc.Arbitrary<FuzzedRequest> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      method: fc.constant('POST'),
      path: fc.oneof(
        { weight: 5, arbitrary: fc.constant(posts[0] ?? '') },
        { weight: 3, arbitrary: fc.constantFrom(...posts) },
      ),
      headers,
      body,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      method: fc.constant('GET'),
      path: fc.tuple(fc.constantFrom(...gets), query).map(([path, text]) => `${path}?${text}`),
      headers,
      body: fc.constant(undefined),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'),
      path: fc.oneof(anyPath, fc.constantFrom(...posts, ...gets)),
      headers,
      body: fc.oneof(fc.constant(undefined), body),
    }),
  },
);

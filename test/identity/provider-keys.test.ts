/** What is asked of a provider over HTTP, and what its answers are taken for. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fetchJson, providerKeys } from '../../src/identity/provider-keys.ts';

const limits = { timeoutMs: 10_000, bytesMax: 1_000 };
let server: ReturnType<typeof createServer>;
let origin = '';
let asked: IncomingMessage[];
let answer: RequestListener;

const paths = () => asked.map(({ url }) => url);
const answersWith = (documents: Record<string, unknown>) => {
  answer = ({ url = '' }, response) => {
    const document = documents[url];
    if (document === undefined) return void response.writeHead(404).end('{}');
    response.end(JSON.stringify(document));
  };
};

beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test('asks for JSON', async () => {
  answersWith({ '/': { a: 1 } });
  expect(await fetchJson(origin, limits)).toEqual({ a: 1 });
  expect(asked[0]?.headers.accept).toBe('application/json');
});

test.each([201, 204, 404, 500])('JSON under status %d is no answer', async (status) => {
  answer = (_, response) => void response.writeHead(status).end(status === 204 ? undefined : '{"a":1}');
  await expect(fetchJson(origin, limits)).rejects.toThrow(`answered ${status}`);
});

test('an error whose body never ends keeps no connection', async () => {
  let closed: Promise<unknown> = Promise.resolve();
  answer = (_, response) => {
    closed = once(response, 'close');
    response.writeHead(500).write('{');
  };
  await expect(fetchJson(origin, limits)).rejects.toThrow('answered 500');
  await closed;
});

test('reads as many bytes as it may, and not one more', async () => {
  const ofLength = (length: number) => `"${'x'.repeat(length - 2)}"`;
  answer = ({ url = '' }, response) => void response.end(ofLength(Number(url.slice(1))));
  expect(await fetchJson(`${origin}/1000`, limits)).toHaveLength(998);
  await expect(fetchJson(`${origin}/1001`, limits)).rejects.toThrow('answered more than 1000 bytes');
});

test('bytes that are no text are no JSON', async () => {
  answer = (_, response) => void response.end(Buffer.from([0x22, 0xff, 0x22]));
  await expect(fetchJson(origin, limits)).rejects.toThrow('answered with something that is not JSON');
});

test('looks where the issuer’s address says, with its path, and once', async () => {
  answersWith({
    '/tenant/.well-known/openid-configuration': { issuer: `${origin}/tenant/`, jwks_uri: `${origin}/keys` },
    '/keys': { keys: [] },
  });
  const load = providerKeys({ issuer: `${origin}/tenant/` }, limits);
  expect(await load()).toEqual({ keys: [] });
  await load();
  expect(paths()).toEqual(['/tenant/.well-known/openid-configuration', '/keys', '/keys']);
});

test('keys that are gone are looked for again, unless it was said where they are', async () => {
  const discovery = '/.well-known/openid-configuration';
  answersWith({ [discovery]: { issuer: origin, jwks_uri: `${origin}/old` } });
  const load = providerKeys({ issuer: origin }, limits);
  await expect(load()).rejects.toThrow('answered 404');
  answersWith({ [discovery]: { issuer: origin, jwks_uri: `${origin}/new` }, '/new': { keys: [] } });
  expect(await load()).toEqual({ keys: [] });
  expect(paths()).toEqual([discovery, '/old', discovery, '/new']);

  asked = [];
  const fixed = providerKeys({ issuer: origin, jwksUrl: `${origin}/old` }, limits);
  await expect(fixed()).rejects.toThrow('answered 404');
  await expect(fixed()).rejects.toThrow('answered 404');
  expect(paths()).toEqual(['/old', '/old']);
});

test.each([
  [{ issuer: 'https://other.example' }, 'the discovery document is that of another issuer'],
  [{}, 'the discovery document names no keys'],
  [{ jwks_uri: 5 }, 'the discovery document names no keys'],
  [{ jwks_uri: 'http://keys.example' }, 'keys are fetched over https only'],
])('says what is wrong with %j', async (change, reason) => {
  answersWith({ '/.well-known/openid-configuration': { issuer: origin, ...change } });
  await expect(providerKeys({ issuer: origin }, limits)()).rejects.toThrow(reason);
});

/** Answers are compressed for callers that ask for it, and stay the same answers. */
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API, type ContractService, shop, startContractService } from './kit.ts';

interface Raw {
  status: number | undefined;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
}

describe('compression', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await startContractService();
  });
  afterAll(() => service?.stop());
  /** As the bytes come: fetch would unpack them. */
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<Raw>((resolve, reject) => {
      request(`${service.ready.urls.events}${path}`, { method, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({ status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(chunks) }),
        );
      })
        .on('error', reject)
        .end();
    });

  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['GZIP;q=0.5, br;q=0', 'gzip'],
  ])('%s: the document comes as %s, and is the same', async (accepted, coding) => {
    const plain = await get('/openapi.json');
    for (let round = 0; round < 2; round++) {
      const answer = await get('/openapi.json', { 'accept-encoding': accepted });
      expect(answer.headers['content-encoding']).toBe(coding);
      expect(answer.headers.vary).toMatch(/Accept-Encoding/);
      const text = coding === 'br' ? brotliDecompressSync(answer.bytes) : gunzipSync(answer.bytes);
      expect(text.equals(plain.bytes)).toBe(true);
      expect(answer.bytes.length).toBeLessThan(plain.bytes.length / 3);
      expect(answer.headers.etag).toBe(`W/${plain.headers.etag}`);
    }
  });

  test.each([undefined, 'identity', 'gzip;q=0', 'zstd'])(
    'asked for %s: it comes as it is',
    async (accepted) => {
      const answer = await get(
        '/openapi.json',
        accepted === undefined ? {} : { 'accept-encoding': accepted },
      );
      expect(answer.headers['content-encoding']).toBeUndefined();
      expect(answer.headers.vary).toMatch(/Accept-Encoding/);
      expect(JSON.parse(answer.bytes.toString())).toHaveProperty('openapi');
    },
  );

  test('the page, the script and the configuration of events are compressed; a known one stays 304', async () => {
    for (const path of [
      '/docs',
      '/sdk.js',
      '/openapi/relay.json',
      `${API}/event-config?brandId=${shop.brandId}`,
    ]) {
      const answer = await get(path, { 'accept-encoding': 'gzip' });
      expect([path, answer.headers['content-encoding']]).toEqual([path, 'gzip']);
      const known = await get(path, {
        'accept-encoding': 'gzip',
        'if-none-match': String(answer.headers.etag),
      });
      expect([path, known.status, known.bytes.length]).toEqual([path, 304, 0]);
    }
  });

  test('small answers are not compressed, and have their length', async () => {
    const answer = await get(`${API}/health`, { 'accept-encoding': 'gzip' });
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(answer.bytes.toString())).toHaveProperty('status');
    const refused = await get(`${API}/nothing`, { 'accept-encoding': 'gzip' });
    expect(Number(refused.headers['content-length'])).toBe(refused.bytes.length);
  });

  test('HEAD has no body', async () => {
    const answer = await get('/openapi.json', { 'accept-encoding': 'gzip' }, 'HEAD');
    expect([answer.status, answer.bytes.length]).toEqual([200, 0]);
  });

  test('the log of requests keeps what people can read', async () => {
    const answer = await get('/openapi.json', { 'accept-encoding': 'gzip' });
    const kept = await service.explain({
      headers: new Headers({ 'x-request-id': String(answer.headers['x-request-id']) }),
    });
    expect(JSON.stringify(kept)).toContain('openapi');
  });
});

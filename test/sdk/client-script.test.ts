/** Contract: GET /sdk.js. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { clientScriptPath, createClientScript } from '../../src/http/events/client-script.ts';

const asking = (headers: Record<string, string> = {}) =>
  new Request('http://events.example/sdk.js', { headers });
const served = createClientScript({ path: clientScriptPath(), apiPrefix: '/rewards-api' });

test('the script is JavaScript that browsers may keep for five minutes', async () => {
  const response = await served.serve(asking());
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('public, max-age=300');
  expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  expect(await response.text()).toContain('/rewards-api');
});

test('the script has less than 6 KB compressed, and neither runs nor writes text as code', async () => {
  const script = await (await served.serve(asking())).text();
  expect(gzipSync(script).length).toBeLessThan(6 * 1024);
  expect(script).not.toMatch(/\beval\b|new Function|innerHTML|document\.write|new RegExp/);
});

test('a browser that has the script is not sent it again', async () => {
  const etag = (await served.serve(asking())).headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[\w-]{27}"$/);
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const response = await served.serve(asking({ 'if-none-match': known }));
    expect([known, response.status, await response.text()]).toEqual([known, 304, '']);
    expect(response.headers.get('etag')).toBe(etag);
  }
  expect((await served.serve(asking({ 'if-none-match': '"other"' }))).status).toBe(200);
});

test('another path prefix is in the script that the service hands out', async () => {
  const moved = createClientScript({ path: clientScriptPath(), apiPrefix: '/loyalty' });
  const response = await moved.serve(asking());
  const text = await response.text();
  expect(text).toContain('/loyalty');
  expect(text).not.toContain('/rewards-api');
  expect(response.headers.get('etag')).not.toBe((await served.serve(asking())).headers.get('etag'));
});

test('a script that is not built yet is served once it is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rewards-script-'));
  const path = join(folder, 'sdk.js');
  const early = createClientScript({ path, apiPrefix: '/rewards-api' });
  await expect(early.serve(asking())).rejects.toThrow(/sdk\.js/);
  await writeFile(path, 'built()');
  expect(await (await early.serve(asking())).text()).toBe('built()');
  await rm(folder, { recursive: true });
});

/** What a page of somebody else, open in the developer's browser, can get out of the console and do with it: nothing. */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pages } from '../../src/console/pages.ts';
import { controlEndpoints } from '../../src/contract/control/endpoints.ts';
import { startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
let cookie: string;
beforeAll(async () => {
  service = await startTestService();
  const entered = await fetch(`${service.ready.urls.control}?token=${service.ready.controlToken}`, {
    redirect: 'manual',
  });
  cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
});
afterAll(() => service?.stop());

/** `fetch` names no other host than the one that it asks. */
function ask(
  path: string,
  { method = 'GET', headers }: { method?: string; headers: Record<string, string> },
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(service.ready.urls.control + path, { method, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          text: Buffer.concat(parts).toString(),
        }),
      );
    });
    asked.on('error', reject).end();
  });
}

const pathOf = (page: string) => (page === '/' ? '/' : `/console${page.replace(/:\w+/g, '1')}`);
const paths = pages.map(({ path }) => pathOf(path));
const endpoints = Object.values(controlEndpoints).map(({ method, path, parts }) => ({
  method,
  isOpen: parts.open === true,
  path: path.replace(/:\w+|\{\w+\}/g, '1'),
}));

describe('strangers', () => {
  test('a name that was pointed at this machine opens no page, with the session or without', async () => {
    for (const path of [...paths, '/console/live']) {
      for (const session of [{}, { cookie }] as Record<string, string>[]) {
        const { status, text } = await ask(path, {
          headers: { ...session, host: 'evil.example', accept: 'text/html' },
        });
        expect([path, status, text.includes('demo.example')]).toEqual([path, 403, false]);
      }
    }
  });

  test('no page and no endpoint answers without the token or the session', async () => {
    // Webhooks are delivered by whoever sends them; the two others say only what the host has for everybody.
    expect(endpoints.flatMap(({ isOpen, path }) => (isOpen ? [path] : [])).sort()).toEqual([
      '/docs',
      '/inbox',
      '/openapi.json',
    ]);
    const guarded = endpoints.filter(({ isOpen }) => !isOpen);
    for (const { method, path } of [...guarded, ...paths.map((path) => ({ method: 'get', path }))]) {
      const { status } = await ask(path, { method, headers: {} });
      expect([method, path, status]).toEqual([method, path, 401]);
    }
  });

  test('a foreign page acts by no endpoint, though the browser sends the session with it', async () => {
    for (const { method, path } of endpoints) {
      for (const origin of ['http://evil.example', 'null', 'http://localhost.evil.example']) {
        const { status } = await ask(path, { method, headers: { cookie, origin } });
        expect([method, path, origin, status]).toEqual([method, path, origin, 403]);
      }
    }
  });

  test('every page is in nobody’s frame, and runs nothing that stands in it', async () => {
    for (const path of paths) {
      const { headers, text } = await ask(path, { headers: { cookie, accept: 'text/html' } });
      const policy = String(headers['content-security-policy']);
      expect([path, policy]).toEqual([path, expect.stringContaining("frame-ancestors 'none'")]);
      expect([path, policy]).toEqual([path, expect.stringContaining("default-src 'none'")]);
      expect([path, policy]).toEqual([path, expect.not.stringContaining('unsafe')]);
      expect(text).not.toMatch(/<script>|<style|<[^>]*\s(on\w+|style)=/);
    }
  });
});

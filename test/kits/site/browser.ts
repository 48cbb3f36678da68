/** A real Chromium for tests, in which names of our choosing lead to this machine, and a server of pages for it. */
import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import { leaveOut } from '../run/left-out.ts';

const PROGRAMS = [
  process.env.REWARDS_TEST_CHROMIUM ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const program = PROGRAMS.find((path) => path !== '' && existsSync(path));

/** Why there is no browser to test with; undefined when there is one. Throws where one is required. */
export function browserMissing(): string | undefined {
  return program ? undefined : leaveOut('Chromium', 'install chromium or set REWARDS_TEST_CHROMIUM');
}

/** `hosts` are patterns such as `*.demo.example`; all of them lead to this machine, and no other name anywhere. */
export async function startBrowser({ hosts }: { hosts: string[] }) {
  const rules = [...hosts.map((host) => `MAP ${host} 127.0.0.1`), 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1'];
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({
    executablePath: program ?? '',
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--host-resolver-rules=${rules.join(', ')}`,
    ],
  });
  return {
    /** A visitor with storage and caches of their own; what their pages throw is in `errors`. */
    async visitor(
      options: BrowserContextOptions = {},
    ): Promise<{ context: BrowserContext; errors: Error[] }> {
      const context = await browser.newContext(options);
      const errors: Error[] = [];
      context.on('weberror', (error) => errors.push(error.error()));
      return { context, errors };
    },
    stop: () => browser.close(),
  };
}

/** What a page server answers: a document, or where to go on after a form. */
export type Page = { html: string; headers?: Record<string, string> } | { redirect: string };

/** Serves pages under whatever name they are asked for; `page` is asked at each request. */
export async function startPages(page: (url: URL, request: IncomingMessage) => Page | undefined) {
  const server = createServer((request, response) => {
    const answer = page(new URL(request.url ?? '/', `http://${request.headers.host}`), request);
    request.resume();
    if (!answer) return response.writeHead(404).end();
    if ('redirect' in answer) return response.writeHead(303, { location: answer.redirect }).end();
    const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };
    return response.writeHead(200, { ...headers, ...answer.headers }).end(answer.html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    /** The address of a path under a name. */
    at: (host: string, path: string) => `http://${host}:${port}${path}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

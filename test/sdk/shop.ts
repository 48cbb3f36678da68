/** A service, a brand's shop and a browser: what the tests of the client script share. */
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page as BrowserPage } from 'playwright-core';
import { expect } from 'vitest';
import { someone, startTestService } from '../kits/service/service.ts';
import { type Page, startBrowser, startPages } from '../kits/site/browser.ts';

const fixture = new URL('./fixture.yaml', import.meta.url).pathname;

/** An event that the page heard of: the occasion, the event's type, the answer. */
type Heard = [occasion: string, eventType: string, answer: Record<string, unknown>];

declare global {
  var heardSoFar: Heard[];
}

export async function openShop() {
  const service = await startTestService({ seedFiles: [fixture] });
  const slow = await startSlowWay(service.ready.urls.events);
  const tag = (user: string | null, attributes = 'async', base = service.ready.urls.events) =>
    `<script ${attributes} src="${base}/sdk.js" data-brand-id="${service.brand.brandId}" data-user-email="${user ?? ''}"></script>`;

  /** Every path is a page with the script; `user` in the query is who is signed in. */
  const page = (url: URL): Page => {
    if (url.pathname === '/submit') return { redirect: url.searchParams.get('to') ?? '/' };
    if (url.pathname === '/leave') return { redirect: `http://elsewhere.example:${url.port}/plain` };
    if (url.pathname === '/plain') return { html: '<!doctype html><title>Plain</title>' };
    const user = url.searchParams.get('user');
    const script = url.searchParams.get('script');
    const tags = {
      twice: tag(user, '') + tag(user) + tag(user, 'defer'),
      module: tag(user, 'type="module"'),
      slow: tag(user, 'async', slow.url),
    }[script ?? ''];
    const csp = url.searchParams.get('csp');
    return {
      headers: csp === null ? {} : { 'content-security-policy': csp },
      html: `<!doctype html><title>${url.searchParams.get('title') ?? 'A page'}</title>
        <script>
          globalThis.heardSoFar = [];
          globalThis.Rewards = globalThis.Rewards || [];
          for (const occasion of ['reward', 'refused', 'error'])
            Rewards.push(['on', occasion, (answer, type) => heardSoFar.push([occasion, type, answer])]);
        </script>
        ${tags ?? tag(user)}
        ${PARTS[url.pathname] ?? ''}`,
    };
  };
  const pages = await startPages(page);
  const browser = await startBrowser({ hosts: ['demo.example', '*.demo.example', '*.example'] });

  return {
    service,
    at: (path: string, host = 'shop.demo.example') => pages.at(host, path),
    /** A visitor with one page; `sent` are the events that left the browser. */
    async visit(prepare: (context: BrowserContext) => Promise<unknown> = async () => {}) {
      const { context, errors } = await browser.visitor();
      const sent: { key: string | undefined; body: Record<string, unknown> }[] = [];
      context.on('request', (request) => {
        if (!request.url().endsWith('/manual-event') || request.method() !== 'POST') return;
        sent.push({ key: request.headers()['idempotency-key'], body: request.postDataJSON() });
      });
      await prepare(context);
      return { context, errors, sent, page: await context.newPage() };
    },
    /** A new user with a wallet; the function gives all RWT that the chain ever paid to it, but the first one. */
    async user() {
      const email = someone();
      const probe = await service.event({ eventType: 'custom_probe', userEmail: email });
      const wallet: string = probe.body.walletAddress;
      const paid = async () => {
        const [, ...amounts] = (await service.payouts()).get(wallet) ?? [];
        expect(await service.balanceOf(wallet)).toBe(amounts.reduce((sum, amount) => sum + amount, 1n));
        return amounts.map(Number);
      };
      return { email, paid, query: `user=${encodeURIComponent(email)}` };
    },
    async close() {
      await browser.stop();
      await pages.stop();
      await slow.stop();
      await service.stop();
    },
  };
}

const PARTS: Record<string, string> = {
  '/form': `<form method="post" action="/submit?to=/plain"><input type="email" name="e"><button>Send</button></form>`,
  '/form-elsewhere': `<form method="post" action="/leave"><input type="email" name="e"><button>Send</button></form>`,
  '/form-here': `<form method="post" action="/submit?to=/after%3Fscript%3Dslow">
    <input type="email" name="e"><button>Send</button></form>`,
  '/form-script': `<form onsubmit="event.preventDefault(); event.stopPropagation()">
    <input name="your-email"><button>Send</button></form>`,
  '/form-search': `<form role="search" action="/plain"><input type="email" name="e"><button>Send</button></form>`,
  '/sign-up': `<form method="post" action="/submit?to=/welcome"><input type="email" name="e"><button>Send</button></form>`,
  '/welcome': `<p class="welcome">Welcome</p>`,
  '/order': `<p class="order-ok" style="display: none">Thank you</p>`,
};

/** A way to the service on which everything takes a while, preflights too. */
async function startSlowWay(to: string) {
  const server = createServer((incoming, outgoing) => {
    const { method, headers } = incoming;
    const onward = forward(
      new URL(incoming.url ?? '/', to),
      { method: method ?? 'GET', headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      },
    );
    onward.on('error', () => outgoing.destroy());
    setTimeout(() => incoming.pipe(onward), incoming.url?.endsWith('/manual-event') ? SLOW_MS : 0);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const SLOW_MS = 700;

/** What the page heard, once it has heard `count` answers. */
export async function heard(page: BrowserPage, count: number, timeout = 20_000): Promise<Heard[]> {
  await page.waitForFunction((wanted) => globalThis.heardSoFar?.length === wanted, count, { timeout });
  return page.evaluate(() => globalThis.heardSoFar);
}

/** Long enough for anything that should not happen. */
export const aWhile = () => new Promise((resolve) => setTimeout(resolve, 700));

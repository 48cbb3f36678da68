/** The console: pages for people over the control API, at `/_rewards/`. */
import { createHash } from 'node:crypto';
import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { ControlCall } from '../client/control-call.ts';
import consoleScript from './layout/console.browser.js';
import consoleStyle from './layout/console.css';
import { Document, type Frame } from './layout/layout.tsx';
import type { LiveStreams } from './live.ts';
import { type ConsolePage, type PageContent, PageRefusal, pageAddress, type Visit } from './page.ts';
import { Command } from './parts/action.tsx';
import { ScopeContext } from './parts/scope.tsx';

export interface ConsoleDeps {
  /** In the order of the navigation; the first is the overview. */
  pages: readonly ConsolePage[];
  call: ControlCall;
  /** By the clock that the pages' moments go by. Rejects with a `PageRefusal` where it cannot be had. */
  nowMs: () => Promise<number>;
  /** Nothing can be changed from it. */
  readOnly?: boolean;
  live: Pick<LiveStreams, 'answer'>;
  /** What is shown in place of a page that failed; undefined where nothing is known that helps. */
  instead?: (failed: FailedPage) => Promise<PageContent | undefined>;
}

/** A page that could not be made, and why. */
export interface FailedPage {
  error: unknown;
  page: ConsolePage;
  visit: Visit;
}

/** Its own style and script alone, no other origin, and in nobody's frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

/** An asset's address changes with its text, so that browsers may keep it for ever. */
const asset = (name: string, text: string, contentType: string) => {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 12);
  return { path: `/console/assets/${hash}-${name}`, text, contentType };
};
const style = asset('console.css', consoleStyle, 'text/css; charset=utf-8');
const script = asset('console.js', consoleScript, 'text/javascript; charset=utf-8');
const assets = { style: `/_rewards${style.path}`, script: `/_rewards${script.path}` };

/** What the control host needs of it; paths are below `/_rewards`. */
export function createConsole({ pages, call, live, nowMs: readNow, readOnly = false, instead }: ConsoleDeps) {
  const scope = { readOnly, has: hasPage(pages) };
  const app = new Hono().basePath('/_rewards');
  const nav = pages.flatMap(({ nav: name, path }) => (name === undefined ? [] : [{ name, path }]));
  for (const { path, text, contentType } of [style, script]) {
    app.get(path, () => new Response(text, { headers: assetHeaders(contentType) }));
  }
  app.get('/console/live', () => live.answer());
  for (const page of pages) {
    for (const path of page.path === '/' ? ['', '/'] : [`/console${page.path}`])
      app.get(path, (context) => answer(context, page));
  }
  app.get('/console', (context) => context.redirect('/_rewards/', 302));
  app.all('*', (context) =>
    document(context, { title: 'No such page', status: 404, frame: { nav, assets } }, NO_PAGE),
  );

  /** The page, or why there is none. */
  async function answer(context: Context, page: ConsolePage): Promise<Response> {
    const frame: Frame = { nav, assets, at: navOf(nav, page) };
    try {
      const nowMs = await readNow();
      const visit = { call, params: context.req.param(), query: context.req.query(), nowMs, readOnly };
      const { title, body, isInstead } = await viewOf(page, visit);
      const scoped = <ScopeContext.Provider value={scope}>{body}</ScopeContext.Provider>;
      return document(context, { title, status: 200, frame: { ...frame, nowMs, isInstead } }, scoped);
    } catch (error) {
      if (!(error instanceof PageRefusal)) throw error;
      return document(
        context,
        { title: 'Not shown', status: error.status, frame },
        <p class="notice bad">{error.message}</p>,
      );
    }
  }

  /**
   * What stands in for a page is answered with 200: the page works, what it tells of does not, and `/readyz` says that to
   * programs. Proxies put error pages of their own in the place of a 5xx, and open pages take nothing from one.
   */
  async function viewOf(page: ConsolePage, visit: Visit): Promise<PageContent & { isInstead: boolean }> {
    try {
      return { ...(await page.view(visit)), isInstead: false };
    } catch (error) {
      const content = error instanceof PageRefusal ? undefined : await instead?.({ error, page, visit });
      if (!content) throw error;
      return { ...content, isInstead: true };
    }
  }

  return {
    fetch: app.fetch,
    /** For a browser that did not come by the banner's link. */
    locked: (context: Context): Response | Promise<Response> =>
      document(
        context,
        { title: 'Open the console by its link', status: 401, frame: { nav: [], assets } },
        LOCKED,
      ),
  };
}

/** Whether anybody may have it: the program's own style and script. */
export const isAsset = (path: string): boolean => path.endsWith(style.path) || path.endsWith(script.path);

const assetHeaders = (contentType: string) => ({
  'content-type': contentType,
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
});

/** Whether one of these pages is at an address; names after a colon are anything. */
function hasPage(pages: readonly ConsolePage[]): (address: string) => boolean {
  const patterns = pages.map(({ path }) => path.split('/'));
  const root = pageAddress('/');
  return (address) => {
    const [bare = ''] = address.split('?');
    const parts = bare
      .replace(root, '/')
      .replace(/^\/console/, '')
      .split('/');
    return patterns.some(
      (pattern) =>
        pattern.length === parts.length &&
        pattern.every((part, place) => part.startsWith(':') || part === parts[place]),
    );
  };
}

/** A page without a name of its own in the navigation belongs to the one whose path it continues. */
const navOf = (nav: Frame['nav'], { path }: ConsolePage) =>
  nav.findLast((one) => path === one.path || path.startsWith(`${one.path}/`))?.path;

function document(
  context: Context,
  { title, status, frame }: { title: string; status: number; frame: Frame },
  body: Child,
): Response | Promise<Response> {
  return context.html(
    <Document title={title} frame={frame}>
      {body}
    </Document>,
    status as 200,
    PAGE_HEADERS,
  );
}

const NO_PAGE = (
  <p>
    There is no page at this address. <a href="/_rewards/">Overview</a>
  </p>
);

const LOCKED = (
  <>
    <p>
      The console shows everything of this stack, so it opens only for who has the token of the stack: by the
      link that
      <code> rewards serve </code> prints as “Control”, or by
    </p>
    <Command text="rewards open" />
  </>
);

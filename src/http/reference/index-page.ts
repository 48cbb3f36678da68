/** What people find who open an address of the emulator in a browser: where everything is. */
import type { Context, Next } from 'hono';

/** A link of the index: what it is, and where. */
export interface IndexLink {
  name: string;
  url: string;
  about: string;
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}dt{font-weight:600;margin-top:1rem}dd{margin:0}';

/** Answers browsers at these paths; programs get on to what the contract says of them. */
export function indexPage(paths: readonly string[], links: () => readonly IndexLink[]) {
  return async (context: Context, next: Next): Promise<Response | undefined> => {
    const isBrowser = /\btext\/html\b/.test(context.req.header('accept') ?? '');
    const path = context.req.path.replace(/(.)\/$/, '$1');
    // The banner's link: the control host takes the token out of the address, and sends the browser back here.
    const isEntering = context.req.query('token') !== undefined;
    if (context.req.method !== 'GET' || !isBrowser || !paths.includes(path) || isEntering) {
      await next();
      return undefined;
    }
    const entries = links().map(
      ({ name, url, about }) =>
        `<dt><a href="${escaped(url)}">${escaped(name)}</a></dt><dd>${escaped(about)}</dd>`,
    );
    const head = `<meta charset="utf-8"><title>rewards</title><style>${STYLE}</style>`;
    return context.html(
      `<!doctype html><html lang="en"><head>${head}</head><body><h1>rewards, the emulator</h1><dl>${entries.join('')}</dl></body></html>`,
      200,
      { 'content-security-policy': POLICY, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    );
  };
}

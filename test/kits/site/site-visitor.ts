/** Somebody who visits a site over HTTP as a browser without script does: with cookies, links and forms. */

export interface SitePage {
  status: number;
  headers: Headers;
  /** Below the site's base; empty unless the answer leads elsewhere. */
  location: string;
  html: string;
}

export type SiteVisitor = ReturnType<typeof siteVisitor>;

/** `url`: of the site. */
export function siteVisitor(url: string) {
  const cookies = new Map<string, string>();
  const { origin, pathname } = new URL(url);

  async function ask(path: string, init: RequestInit = {}): Promise<SitePage> {
    const headers = new Headers(init.headers);
    headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(`${url}${path}`, { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get('location') ?? '';
    const below =
      pathname.length > 1 && location.startsWith(pathname) ? location.slice(pathname.length) : location;
    return {
      status: response.status,
      headers: response.headers,
      location: below,
      html: await response.text(),
    };
  }

  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    ask(path, {
      method: 'POST',
      headers: { origin, 'sec-fetch-site': 'same-origin', ...headers },
      body: new URLSearchParams(fields),
    });

  /** Opens a page and sends the form there whose address is `action`, with what it has and `fields`. */
  async function submit(
    page: string,
    action: string,
    fields: Record<string, string> = {},
  ): Promise<SitePage> {
    const { html } = await ask(page);
    const form = formsIn(html).find((one) => one.action === `${pathname.replace(/\/$/, '')}${action}`);
    if (!form) throw new Error(`${page} has no form for ${action}`);
    return post(action, { ...form.fields, ...fields });
  }

  return {
    get: (path: string) => ask(path),
    post,
    submit,
    cookies,
    /** Logs in, and is where that leads. */
    logIn: (login: string, password: string) => submit('/login', '/login', { login, password }),
    /** What the next page says first. */
    async notice(path: string): Promise<string> {
      const { html } = await ask(path);
      return textOf(/<div id="notice"[^>]*>([\s\S]*?)<\/div>/.exec(html)?.[1] ?? '');
    },
  };
}

/** Every form that a page posts. */
export function formsIn(html: string): { action: string; fields: Record<string, string> }[] {
  const forms = [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)];
  return forms
    .filter(([, start = '']) => /method="post"/.test(start))
    .map(([, start = '', inside = '']) => ({
      action: textOf(/action="([^"]*)"/.exec(start)?.[1] ?? ''),
      fields: Object.fromEntries(
        [...inside.matchAll(/<input\b[^>]*>/g)]
          .map(([input]) => [
            /name="([^"]*)"/.exec(input)?.[1] ?? '',
            textOf(/value="([^"]*)"/.exec(input)?.[1] ?? ''),
          ])
          .filter(([name]) => name !== ''),
      ),
    }));
}

/** What a reader sees of markup. */
export const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();

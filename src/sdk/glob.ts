/**
 * Whether a page's address is one that a brand has named. A pattern is plain text in which `*` stands for any
 * characters, slashes too; it never becomes a regular expression, so no pattern can be slow or mean something else.
 */

/** Whether `text` is `pattern`, with anything in place of each `*`. */
export function matchesGlob(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const part of others) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}

/**
 * Whether the page at `href` fits a pattern of `detectionConfig.urlPatterns`:
 * - `/thanks*` is compared with the path, on every host;
 * - `https://shop.example/thanks*`, `//shop.example/thanks*` and `*.shop.example/thanks*` with the host and the path;
 * - query and fragment count only where the pattern has a `?` or a `#`; a slash at the end never counts.
 */
export function matchesUrl(pattern: string, href: string): boolean {
  const url = parse(href);
  if (!url || !pattern) return false;
  const { protocol, host, hostname } = url;
  const wanted = withoutSlash(lowerHost(pattern));
  const tail = (wanted.includes('?') ? url.search : '') + (wanted.includes('#') ? url.hash : '');
  const pages = [url.pathname, decoded(url.pathname)].map((path) => withoutSlash(path) + tail);
  const fits = (text: string, heads: string[]) =>
    heads.some((head) => pages.some((page) => matchesGlob(text, head + page)));

  const hosts = [host, hostname];
  if (wanted.includes('://'))
    return fits(
      wanted,
      hosts.map((name) => `${protocol}//${name}`),
    );
  if (wanted.startsWith('//'))
    return fits(
      wanted,
      hosts.map((name) => `//${name}`),
    );
  if (/^[/*]?$/.test(wanted) || wanted.startsWith('/')) return fits(wanted, ['']);
  // Neither a path nor a URL: a host when it looks like one, and in any case the rest of a path.
  const isHost = (wanted.split('/', 1)[0] ?? '').includes('.');
  return (isHost && fits(wanted, hosts)) || fits(wanted.startsWith('*') ? wanted : `/${wanted}`, ['']);
}

function parse(href: string): URL | undefined {
  try {
    return new URL(href);
  } catch {
    return undefined;
  }
}

/** Hosts have no upper case in a browser's addresses. */
const lowerHost = (pattern: string) =>
  pattern.replace(/^([a-z*]+:)?\/\/[^/?#]*/i, (origin) => origin.toLowerCase());

const withoutSlash = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : path);

/** Brands write `/größe`; the browser has `/gr%C3%B6%C3%9Fe`. */
function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

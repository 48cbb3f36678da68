/** The WHATWG parser as a value: undefined when the text is not a URL. */
export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Whether an address is of this very machine, where nobody listens in. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return host === '' || host === 'localhost' || host === '::1' || /^127\./.test(host);
}

/** Whether a connection to this Postgres is encrypted, and its certificate checked; a socket's file needs neither. */
export function isPrivatePostgres(url: string): boolean {
  if (isLoopback(url)) return true;
  if (!URL.canParse(url)) return false;
  const { searchParams } = new URL(url);
  const mode = searchParams.get('sslmode');
  return (
    (searchParams.get('host') ?? '').startsWith('/') || /^(?:require|verify-ca|verify-full)$/.test(mode ?? '')
  );
}

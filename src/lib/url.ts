/** The WHATWG parser as a value: undefined for what is no URL. */
export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** The WHATWG parser as a value: undefined when the text is not a URL. */
export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

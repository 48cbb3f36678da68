/** The program's log: one line per occurrence, fields first, never a secret. */

export type LogFields = Record<string, string | number | boolean | null | undefined>;

export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const RANK = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 } as const;
export type LogLevel = keyof typeof RANK;

/** Writes lines of JSON through `write`, with every value scrubbed. */
export function jsonLog(sink: { write: (line: string) => void; level: LogLevel; now: () => number }): Log {
  const at = (level: Exclude<LogLevel, 'silent'>) => (fields: LogFields, message: string) => {
    if (RANK[level] < RANK[sink.level]) return;
    const clean = Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' ? scrub(value) : value]),
    );
    sink.write(
      `${JSON.stringify({ time: new Date(sink.now()).toISOString(), level, ...clean, message: scrub(message) })}\n`,
    );
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** No sentence of ours is longer; errors of nodes can have megabytes, and every character is looked at many times. */
const LONGEST = 4_000;

/** Before anything is taken out. What the cut goes through is left out whole: half a secret would not be recognised. */
function cut(text: string): string {
  if (text.length <= LONGEST) return text;
  const kept = text.slice(0, LONGEST);
  return `${kept.slice(0, Math.max(...[' ', '\n', '\t', '"', ','].map((sign) => kept.lastIndexOf(sign))) + 1)}… (${text.length} characters)`;
}

/** At each character, up to 64 more are looked at: only a text with an @ is worth it. */
const withoutEmails = (text: string) =>
  text.includes('@') ? text.replace(/[^\s@"'<>(),;:]{1,64}@[a-z0-9.-]{1,253}/gi, '[e-mail]') : text;

/** Takes e-mails, keys, tokens, URLs with credentials or paths, and long byte strings out of a text. */
export function scrub(text: string): string {
  const shorter = withoutKeys(withoutEmails(withoutUrls(cut(text))));
  return shorter.length > BYTES_SHOWN ? shorter.replace(/\b0x[0-9a-fA-F]{65,}/g, '[bytes]') : shorter;
}

/** A hash with its 0x; what is longer is a signed transaction or a call. */
const BYTES_SHOWN = 66;

const withoutUrls = (text: string) =>
  text.includes('://')
    ? text.replace(
        /\b(?:https?|wss?|postgres(?:ql)?):\/\/[^\s"'<>]+/gi,
        (url) => `${url.slice(0, url.indexOf(':'))}://[url]`,
      )
    : text;

/** The same for every text in a JSON value, each by itself: within the value's own text a match could take a quote with it. */
export function scrubValue(value: unknown): unknown {
  if (typeof value === 'string') return scrub(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(scrubValue);
  const scrubbed: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) scrubbed[name] = scrubValue(inner);
  return scrubbed;
}

/** Takes what looks like a key of a brand, of the payment processor or of a webhook, or like a user's token, out of a text. */
export const withoutKeys = (text: string): string => withoutTokens(withoutNamedKeys(text));

const withoutNamedKeys = (text: string) =>
  text.includes('k_') || text.includes('sec_')
    ? text.replace(/\b(?:whsec|rk|sk|pk)_[A-Za-z0-9_+/=-]{6,}/g, '[key]')
    : text;

const withoutTokens = (text: string) =>
  text.includes('eyJ')
    ? text.replace(/\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, '[token]')
    : text;

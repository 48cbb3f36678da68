/** The latest requests of an emulator, newest first: bodies up to a size, and no secret that a caller wrote into one. */
import type { RequestRecord } from '../../http/frame/request-record.ts';
import { withoutKeys } from '../../lib/log.ts';

/** What makes most of an entry's size: all of it is a caller's text. */
interface Texts {
  id: string;
  path?: string;
  search?: string;
  origin?: string | undefined;
  traces?: unknown[];
  requestBody?: string | undefined;
  responseBody?: string | undefined;
}

/** Beside its texts an entry has its times and its status. */
const ENTRY_BYTES = 1_024;
/** How one event was decided: its fields, brand, rule and counters. */
const TRACE_BYTES = 4_096;

function bytesOf(entry: Texts): number {
  const { path = '', search = '', origin = '', requestBody = '', responseBody = '', traces = [] } = entry;
  const texts = [path, search, origin, requestBody, responseBody];
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  // Texts take two bytes a character where one of them is not Latin.
  return ENTRY_BYTES + TRACE_BYTES * traces.length + 2 * characters;
}

/** The oldest entries make room for a new one: it is kept whatever its size. */
export function createRequestLog<Entry extends Texts>(limits: { entriesMax: number; bytesMax: number }) {
  const entries = new Map<string, Entry>();
  let bytes = 0;
  const newestFirst = () => [...entries.values()].reverse();
  return {
    add(entry: Entry) {
      entries.set(entry.id, entry);
      bytes += bytesOf(entry);
      for (const [id, oldest] of entries) {
        const fits = entries.size <= limits.entriesMax && bytes <= limits.bytesMax;
        if (fits || entries.size === 1) break;
        entries.delete(id);
        bytes -= bytesOf(oldest);
      }
    },
    /** `keep` chooses; at most `limit` entries, and with `after` only those younger than that one. */
    list(choice: { keep: (entry: Entry) => boolean; limit: number; after?: string | undefined }): Entry[] {
      const { keep, limit, after } = choice;
      const all = newestFirst();
      const known = after === undefined ? -1 : all.findIndex(({ id }) => id === after);
      return (known === -1 ? all : all.slice(0, known)).filter(keep).slice(0, limit);
    },
    /** Every entry that `name` may mean: an id or its beginning, with or without `req_`, or `latest`. */
    find(name: string): Entry[] {
      if (name === 'latest') return newestFirst().slice(0, 1);
      const exact = entries.get(name);
      if (exact) return [exact];
      const beginning = name.startsWith('req_') ? name : `req_${name}`;
      return beginning === 'req_' ? [] : newestFirst().filter(({ id }) => id.startsWith(beginning));
    },
  };
}

/** Fields whose values are secrets, whatever is in them. Compared without case, `_` and `-`. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  ...['password', 'passwd', 'pwd', 'passphrase', 'userpass', 'applicationpassword'],
  ...['secret', 'clientsecret', 'webhooksecret', 'signingsecret', 'apisecret', 'apikey', 'privatekey'],
  ...['authorization', 'cookie', 'setcookie', 'accesstoken', 'refreshtoken', 'idtoken', 'sessiontoken'],
  ...['mnemonic', 'seedphrase', 'jwt', 'bearer', 'cvc', 'cardnumber'],
]);
const isSecret = (name: string) => SECRET_FIELDS.has(name.toLowerCase().replaceAll(/[_-]/g, ''));
/** Any of them, somewhere in a text. */
const SECRET_FIELD = new RegExp([...SECRET_FIELDS].map((name) => [...name].join('[_-]*')).join('|'), 'iu');

/** What the emulator keeps of a request: bodies up to a size, and no secret that a caller wrote into one. */
const REDACTED = '[redacted]';

/** E-mails stay: they are the developer's own test users, and `explain` without them would say nothing. */
export function keptRequest(
  record: RequestRecord,
  { bodyMaxBytes }: { bodyMaxBytes: number },
): RequestRecord {
  const { requestBody, responseBody, bodyKept, search, path, headers } = record;
  const request = requestBody === undefined ? undefined : withoutSecrets(requestBody);
  const isRedacted = request !== requestBody;
  const isCut = request !== undefined && request.length > bodyMaxBytes;
  return {
    ...record,
    path: withoutKeys(path),
    search: withoutSecrets(search),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withoutKeys(value)])),
    requestBody: cut(request, bodyMaxBytes),
    responseBody: cut(responseBody === undefined ? undefined : withoutSecrets(responseBody), bodyMaxBytes),
    bodyKept: isCut ? 'cut' : isRedacted ? 'redacted' : bodyKept,
  };
}

const cut = (text: string | undefined, most: number) =>
  text === undefined || text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;

/** A text without a secret comes back as it was, to the last space: it can be sent again. */
export function withoutSecrets(text: string): string {
  // Most texts name no secret: looking for the names costs a third of reading their JSON. Escapes may hide one.
  if (!text.includes('\\') && !SECRET_FIELD.test(text)) return withoutKeys(text);
  const written = withoutKeys(withoutWrittenFields(text));
  const value = jsonOf(written);
  // A name may be written with escapes, which only reading the JSON undoes.
  return value !== undefined && hasSecret(value) ? JSON.stringify(value, hideSecret) : written;
}

/** `"password": "…"` of JSON, also of JSON that is cut or broken, and `password=…` of forms and queries. */
const withoutWrittenFields = (text: string) =>
  text
    .replace(/"([^"\\]{1,40})"(\s*:\s*)"(?:[^"\\]|\\.)*"?/g, (all, name: string, colon: string) =>
      isSecret(name) ? `"${name}"${colon}"${REDACTED}"` : all,
    )
    .replace(/(^|[?&])([^=&?\s"{}]{1,40})=([^&\s"]*)/g, (all, before: string, name: string) =>
      isSecret(name) ? `${before}${name}=${REDACTED}` : all,
    );

function hasSecret(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, inner]) =>
      (isSecret(name) && typeof inner !== 'object' && inner !== REDACTED) || hasSecret(inner),
  );
}

const hideSecret = (name: string, value: unknown) =>
  isSecret(name) && typeof value !== 'object' ? REDACTED : value;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

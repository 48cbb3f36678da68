/** Where two values of JSON differ, field by field, and the parts of a request that are worth comparing. */
import type { RequestDetail } from '../../contract/control/requests.ts';

/** A side that has nothing there lacks its field. */
export interface Difference {
  /** `responseBody.details.reason`. */
  path: string;
  a?: unknown;
  b?: unknown;
}

export function differencesOf(a: unknown, b: unknown, path = ''): Difference[] {
  if (Object.is(a, b)) return [];
  if (isMap(a) && isMap(b) && Array.isArray(a) === Array.isArray(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return keys.flatMap((key) => differencesOf(a[key], b[key], below(path, key, Array.isArray(a))));
  }
  return [{ path, ...(a !== undefined && { a }), ...(b !== undefined && { b }) }];
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const below = (path: string, key: string, isList: boolean) => {
  if (isList) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
};

/** What was sent, what was answered and how it was decided; without ids and times of the log, which always differ. */
export function comparable(request: RequestDetail) {
  const { host, method, path, search, origin, credential, status, decision, explained } = request;
  return {
    host,
    method,
    path,
    query: Object.fromEntries(new URLSearchParams(search)),
    origin,
    credential,
    requestHeaders: request.requestHeaders,
    requestBody: jsonOr(request.requestBody),
    status,
    responseHeaders: request.responseHeaders,
    responseBody: jsonOr(request.responseBody),
    decision,
    checks: explained.map(({ checks }) =>
      Object.fromEntries(checks.map(({ name, outcome }) => [name, outcome])),
    ),
  };
}

function jsonOr(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return text;
  }
}

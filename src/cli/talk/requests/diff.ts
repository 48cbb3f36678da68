/** Where two values of JSON differ, field by field, and the parts of a request that are worth comparing. */
import { type RequestDetail, showRequest } from '../../../contract/control/requests.ts';
import type { Handler } from '../../machine/context.ts';
import { type ControlOptions, withControl } from '../../service/control.ts';
import { mustSucceed } from '../../service/control-reply.ts';
import type { Style } from '../../terminal/style.ts';
import { shortRequestId } from './view.ts';

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

export const diffRequests: Handler<ControlOptions & { a: string; b: string }> = (context, options) =>
  withControl(context, options, async ({ call }) => {
    const find = async (name: string): Promise<RequestDetail> => {
      const reply = await call(showRequest, { path: { id: name } });
      mustSucceed(reply);
      return reply.body;
    };
    const [a, b] = [await find(options.a), await find(options.b)];
    const differences = differencesOf(comparable(a), comparable(b));
    const data = { a: a.id, b: b.id, same: differences.length === 0, differences };
    return { ok: true, data, text: (style) => diffText([a, b], differences, style) };
  });

function diffText(
  both: [RequestDetail, RequestDetail],
  differences: readonly Difference[],
  style: Style,
): string {
  const head = both.map(({ id, at, method, path, status }, place) =>
    [
      place === 0 ? 'a' : 'b',
      style.bold(shortRequestId(id)),
      style.dim(at),
      `${method} ${path}  ->  ${status}`,
    ].join('  '),
  );
  const same = [style.dim('  sent, answered and decided alike')];
  return [...head, ...(differences.length === 0 ? same : differenceLines(differences, style))].join('\n');
}

const VALUE_MAX = 60;

export const differenceLines = (differences: readonly Difference[], style: Style): string[] =>
  differences.map((one) => {
    const path = style.bold(one.path);
    if (!('a' in one)) return `  ${style.green('+')} ${path}  ${valueText(one.b)}`;
    if (!('b' in one)) return `  ${style.red('-')} ${path}  ${valueText(one.a)}`;
    return `  ${style.yellow('~')} ${path}  ${valueText(one.a)} → ${valueText(one.b)}`;
  });

function valueText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text;
}

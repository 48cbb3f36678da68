/**
 * Refusals as tables: one row for each expected "no" of a host, with its status, its texts, when it comes and one
 * that may come. The answer, the reference and the OpenAPI document are all made from the row.
 */

/** The contract gives two wordings for a cooldown, and clients of the earlier one look for it after a duplicate too; `compat.errors` picks one (contract: Errors). */
export type ErrorDialect = 'current' | 'earlier';

export type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | 500 | 503 | 504;

/** A refusal as the rules and actions give it: a code, and the facts that belong to it. */
export interface Coded {
  code: string;
}

/** What an answer says about a refusal; the host's form decides where in the body each part stands. */
export interface Said {
  /** The short text; absent where `message` says everything. */
  error?: string;
  message: string;
  details?: Record<string, unknown>;
}

export type RefusalRow<R extends Coded> = RefusalTexts<R> &
  // A refusal without facts needs no example of them.
  (Exclude<keyof R, 'code'> extends never ? { example?: undefined } : { example: Omit<R, 'code'> });

interface RefusalTexts<R extends Coded> {
  status: RefusalStatus;
  /** When it comes, for the reference. */
  when: string;
  says: Said | ((refusal: R, dialect: ErrorDialect) => Said);
  /** When the same request may pass, in milliseconds since 1970: told in `details` and in Retry-After. */
  passesAtMs?: (refusal: R) => number | undefined;
  /** Retry-After, in seconds, where no moment is known at which the request would pass. */
  retryAfterSeconds?: number;
  headers?: (refusal: R) => Record<string, string>;
}

export type RefusalRows<R extends Coded> = { [Code in R['code']]: RefusalRow<Extract<R, { code: Code }>> };

/** A refusal as it is answered. */
export interface RefusalAnswer<Body = unknown> {
  status: RefusalStatus;
  body: Body;
  /** Retry-After, in seconds, when a later try may pass. */
  retryAfterSeconds?: number;
  headers: Record<string, string>;
}

/** A refusal as the reference shows it. */
export interface DocumentedRefusal {
  when: string;
  status: number;
  body: unknown;
  retryAfterSeconds?: number | undefined;
}

export interface RefusalTable<R extends Coded, Body = unknown> {
  /** In the order of the checks. */
  codes: R['code'][];
  /** One that may come, with the facts that stand as an example in its row. */
  example<Code extends R['code']>(code: Code): Extract<R, { code: Code }>;
  /** `nowMs` is the clock that the decision was made on. */
  answer(refusal: R, context: { nowMs: number; dialect?: ErrorDialect }): RefusalAnswer<Body>;
  documented(code: R['code']): DocumentedRefusal;
}

/** The moment at which the examples are answered. */
export const EXAMPLES_AT_MS = Date.parse('2030-01-01T12:00:00.000Z');

export const isoInstant = (ms: number): string => new Date(ms).toISOString();
export const wholeSeconds = (ms: number): number => Math.ceil(ms / 1_000);

/**
 * Makes a host's table. `form` puts what a row says into the host's body. `leastRetrySeconds` is what Retry-After
 * says when the moment has come meanwhile.
 */
export function refusalTable<R extends Coded, Body>(table: {
  form: (said: Said, code: R['code']) => Body;
  leastRetrySeconds: 0 | 1;
  rows: RefusalRows<R>;
}): RefusalTable<R, Body> {
  // A row's own type is lost where its code is a variable; each row is only ever given its own refusal.
  const rows = table.rows as unknown as Record<string, RefusalRow<R>>;
  const rowOf = (code: string): RefusalRow<R> => {
    const row = rows[code];
    if (!row) throw new Error(`the table of refusals has no row ${code}`);
    return row;
  };
  const answer: RefusalTable<R, Body>['answer'] = (refusal, { nowMs, dialect = 'current' }) => {
    const { status, says, passesAtMs, retryAfterSeconds, headers } = rowOf(refusal.code);
    const said = typeof says === 'function' ? says(refusal, dialect) : says;
    const passes = passesAtMs?.(refusal);
    const remainingSeconds =
      passes === undefined ? undefined : Math.max(table.leastRetrySeconds, wholeSeconds(passes - nowMs));
    const details = {
      ...said.details,
      ...(passes !== undefined && { remainingSeconds, retryAt: isoInstant(passes) }),
    };
    const retry = remainingSeconds ?? retryAfterSeconds;
    return {
      status,
      body: table.form({ ...said, details }, refusal.code),
      ...(retry !== undefined && { retryAfterSeconds: retry }),
      headers: headers?.(refusal) ?? {},
    };
  };
  const example = <Code extends R['code']>(code: Code) =>
    ({ code, ...rowOf(code).example }) as Extract<R, { code: Code }>;
  return {
    codes: Object.keys(rows) as R['code'][],
    example,
    answer,
    documented(code) {
      const { status, body, retryAfterSeconds } = answer(example(code), { nowMs: EXAMPLES_AT_MS });
      return { when: rowOf(code).when, status, body, retryAfterSeconds };
    },
  };
}

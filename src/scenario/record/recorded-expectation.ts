/** What a recorded answer lets one expect of the next: what does not change, and the form of what does. */
import type { RequestDetail } from '../../contract/control/requests.ts';
import { isEmail } from './known-names.ts';

/** Longer bodies, such as a brand's whole configuration, would hide what a scenario is about. */
const BODY_MAX = 1_500;
/** Numbers that time, the chain or other requests move. */
const MOVES = /second|retry|reset|remaining|time|block|gas|balance|nonce|index|uptime|latency|(?:at|ms)$/i;
const FORMS: [RegExp, string][] = [
  [/^0x[0-9a-f]{64}$/i, 'hash'],
  [/^0x[0-9a-f]{40}$/i, 'address'],
  [/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i, 'uuid'],
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/, 'iso8601'],
];

interface Around {
  /** Whether the step sees how it was decided. */
  seesDecision: boolean;
  /** Whether a text has a name that another run has as well. */
  isNamed: (text: string) => boolean;
}

export function recordedExpectation(request: RequestDetail, { seesDecision, isNamed }: Around) {
  const { status, responseBody } = request;
  const decision = decisionOf(request);
  const body = status < 500 ? lasting('', bodyOf(responseBody), isNamed) : undefined;
  const fits = body !== undefined && JSON.stringify(body).length <= BODY_MAX;
  return {
    status,
    ...(seesDecision && decision !== null && { decision }),
    ...(fits && !isEmpty(body) && { body }),
  };
}

/** As steps see it: the check that refused. Null for a request without an event or a call. */
const decisionOf = ({ decision, explained }: RequestDetail): string | null =>
  explained[0]?.checks.find(({ outcome }) => outcome === 'refused')?.name ?? decision;

/** Undefined for a part of which nothing can be expected. */
function lasting(key: string, value: unknown, isNamed: Around['isNamed']): unknown {
  if (typeof value === 'string') return isNamed(value) ? value : lastingText(value);
  if (typeof value === 'number') return MOVES.test(key) ? undefined : value;
  // Lists are compared whole, so each of their parts needs an expectation.
  if (Array.isArray(value))
    return value.map((one) => {
      const part = lasting('', one, isNamed);
      return part === undefined || isEmpty(part) ? { $any: true } : part;
    });
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).flatMap(([name, inner]) => {
    const part = lasting(name, inner, isNamed);
    return part === undefined || isEmpty(part) ? [] : [[name, part] as const];
  });
  return Object.fromEntries(fields);
}

/** Sentences with numbers in them tell of a moment. */
function lastingText(text: string): unknown {
  const [, form] = FORMS.find(([pattern]) => pattern.test(text)) ?? [];
  if (form !== undefined) return { $match: form };
  return isEmail(text) || !/\d/.test(text) ? text : undefined;
}

const isEmpty = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;

function bodyOf(text: string | null): unknown {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

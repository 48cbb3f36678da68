/** Counts the calls that the relay admitted, and checks every answer's headers against the limit. */
import { type Reply, rateWindowIn } from '../client/reply.ts';

/** admitted: used one of the user's limit · refused: over it · address: over the limit of the address · failed: neither. */
export type Verdict = 'admitted' | 'refused' | 'address' | 'failed';

export interface UserTally {
  sent: number;
  admitted: number;
  refused: number;
  /** Of this user's window; undefined before the first answer with the headers. */
  resetAtMs: number | undefined;
  /** The Remaining header of each admitted call. */
  remaining: number[];
}

export interface HeaderCheck {
  /** Answers whose headers were looked at. */
  checked: number;
  count: number;
  /** The first of them, in words. */
  problems: string[];
}

const PROBLEMS_SHOWN = 20;
/** A call that was sent has used one of the limit, whatever its outcome. */
const SENT_CODES: ReadonlySet<string> = new Set(['TRANSACTION_FAILED', 'CONFIRMATION_TIMEOUT']);

/** Checks what answers say about limits, per user in the order of the answers. */
function createHeaderChecks(users: readonly UserTally[]) {
  const headers: HeaderCheck = { checked: 0, count: 0, problems: [] };
  let limit: number | undefined;

  const note = (problem: string) => {
    headers.count += 1;
    if (headers.problems.length < PROBLEMS_SHOWN) headers.problems.push(problem);
  };

  return {
    /** The headers tell of the user's window, except where the address was refused before the user was known. */
    checkWindow(index: number, { reply, verdict, nowMs }: CheckedAnswer): void {
      headers.checked += 1;
      const who = `user ${index}, answer ${reply.status}`;
      const window = rateWindowIn(reply.headers);
      if (!window) {
        note(`${who}: the three X-RateLimit headers are not all there`);
        return;
      }
      if (window.resetAtMs <= nowMs) note(`${who}: Reset ${window.resetAtMs / 1_000} is not in the future`);
      if (verdict === 'address' || verdict === 'refused') {
        if (window.remaining !== 0) note(`${who}: refused, with ${window.remaining} Remaining`);
      }
      if (verdict === 'address') return;
      const user = userAt(users, index);
      limit ??= window.limit;
      if (window.limit !== limit) note(`${who}: Limit is ${window.limit}, and was ${limit}`);
      user.resetAtMs ??= window.resetAtMs;
      if (window.resetAtMs !== user.resetAtMs) {
        note(`${who}: Reset is ${window.resetAtMs / 1_000}, and was ${user.resetAtMs / 1_000}`);
      }
      if (verdict === 'admitted') user.remaining.push(window.remaining);
    },
    /** Once all answers are in: Remaining must have counted down by one with each call that was admitted. */
    checkCountdown(): void {
      for (const [index, { remaining }] of users.entries()) {
        const counted = [...remaining].sort((a, b) => b - a);
        const wrong = counted.findIndex((value, place) => value !== (limit ?? 0) - 1 - place);
        if (wrong !== -1) {
          note(`user ${index}: Remaining is not ${limit} less one for each call: ${counted.join(' ')}`);
        }
      }
    },
    read: () => ({ limit, headers }),
  };
}

function userAt(users: readonly UserTally[], index: number): UserTally {
  const user = users[index];
  if (!user) throw new Error(`there is no user ${index}`);
  return user;
}

export function createRelayTally(userCount: number) {
  const users = Array.from(
    { length: userCount },
    (): UserTally => ({ sent: 0, admitted: 0, refused: 0, resetAtMs: undefined, remaining: [] }),
  );
  const checks = createHeaderChecks(users);
  const failures = new Map<string, number>();
  let byAddress = 0;
  let failed = 0;
  const countFailure = (name: string) => {
    failed += 1;
    failures.set(name, (failures.get(name) ?? 0) + 1);
  };

  return {
    users,
    /** Judges one answer; undefined when none came back. `nowMs` by the service's clock, or earlier. */
    record(index: number, reply: Reply | undefined, nowMs: number): Verdict {
      const user = userAt(users, index);
      user.sent += 1;
      if (!reply) {
        countFailure('no answer');
        return 'failed';
      }
      const verdict = verdictOf(reply);
      if (verdict === 'admitted') user.admitted += 1;
      else if (verdict === 'refused') user.refused += 1;
      else if (verdict === 'address') byAddress += 1;
      else countFailure(nameOf(reply));
      // A call that failed before the limits were read has no headers to check.
      if (verdict !== 'failed') checks.checkWindow(index, { reply, verdict, nowMs });
      return verdict;
    },
    checkCountdown: checks.checkCountdown,
    read: () => ({ byAddress, failed, failures: Object.fromEntries(failures), ...checks.read() }),
  };
}

export type RelayTally = ReturnType<typeof createRelayTally>;

interface CheckedAnswer {
  reply: Reply;
  verdict: Verdict;
  nowMs: number;
}

export function verdictOf({ status, body }: Reply): Verdict {
  if (status === 200) return 'admitted';
  const { code, details } = fieldsOf(body);
  if (typeof code === 'string' && SENT_CODES.has(code)) return 'admitted';
  if (status !== 429 || code !== 'RATE_LIMIT_EXCEEDED') return 'failed';
  return fieldsOf(details).reason === 'address' ? 'address' : 'refused';
}

/** `403 VALIDATION_FAILED would_fail`: enough to know what went wrong. */
function nameOf({ status, body }: Reply): string {
  const { code, details } = fieldsOf(body);
  const { reason } = fieldsOf(details);
  return [status, code, reason]
    .filter((part) => typeof part === 'string' || typeof part === 'number')
    .join(' ');
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/**
 * Idempotency-Key: the same key with the same body gets the first answer again, word for word, even when the
 * first request was cut off between its effect and its answer. Kept for a day.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../ledger/database/database.ts';
import {
  beginRequest,
  findRequest,
  forgetOldRequests,
  freeRequest,
  type IdempotentRequest,
  keepAnswer,
  renewRequest,
  takeOverRequest,
} from '../ledger/limits/idempotency.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/ids.ts';
import { delay, every } from '../lib/timers.ts';

interface AnswerOnceDeps {
  database: Database;
  /** Real time: moving the emulator's clock must not expire a claim on a request. */
  realClock: Clock;
  random: Random;
}

export interface KeyedAnswer {
  status: number;
  /** The headers that only this answer has, such as Retry-After. */
  headers?: Record<string, string>;
  /** The exact text of the body. */
  body: string;
}

/** What a keyed request does: the id that its effect has, and whether an earlier try may have caused it already. */
export interface Effect {
  id: string;
  mayExist: boolean;
}

export type KeyRefusal = { code: 'idempotency_key_reused' } | { code: 'request_in_progress' };

/** How long a claim on a request holds. A worker that has not renewed its claim by then counts as cut off. */
const BUSY_MS = 5_000;
/** How often a worker renews its claim: three renewals may fail before another caller takes over. */
const RENEW_MS = 1_200;
/** How long a second request waits for the first one's answer: longer than any request takes. */
const WAIT_MS = 40_000;
const KEPT_MS = 24 * 3_600_000;
const POLL_MS = 25;

export const IDEMPOTENCY_KEY_MAX = 255;

/**
 * `perform` gets the id that its effect must have: when an earlier try under the key was cut off, it is the
 * same one, and `perform` must look whether the effect is there. An answer of 500 and above is not kept.
 */
export async function answerOnce(
  deps: AnswerOnceDeps,
  request: { scope: string; key: string; body: Uint8Array | string },
  perform: (effect: Effect) => Promise<KeyedAnswer>,
): Promise<KeyedAnswer | KeyRefusal> {
  const { database, realClock, random } = deps;
  const { scope, key } = request;
  const requestDigest = createHash('sha256').update(request.body).digest('hex');
  const nowMs = realClock.now();
  const begun = await beginRequest(database.db, {
    scope,
    key,
    requestDigest,
    effectId: random.uuid(),
    busyUntil: nowMs + BUSY_MS,
    createdAt: nowMs,
  });
  if (begun) return finish(deps, begun, () => perform({ id: begun.effectId, mayExist: false }));

  while (realClock.now() < nowMs + WAIT_MS) {
    const known = await findRequest(database.db, { scope, key });
    // The first try failed and was forgotten, so this request is now the first.
    if (!known) return answerOnce(deps, request, perform);
    if (known.requestDigest !== requestDigest) return { code: 'idempotency_key_reused' };
    const first = firstAnswer(known);
    if (first) return first;
    const now = realClock.now();
    const busyUntil = now + BUSY_MS;
    if (await takeOverRequest(database.db, { scope, key, nowMs: now, busyUntil })) {
      return finish(deps, { scope, key, busyUntil }, () => perform({ id: known.effectId, mayExist: true }));
    }
    await delay(POLL_MS);
  }
  return { code: 'request_in_progress' };
}

/** The answer that is kept of a request; undefined while it has none. */
function firstAnswer({ status, headers, body }: IdempotentRequest): Required<KeyedAnswer> | undefined {
  return status === null || body === null ? undefined : { status, headers: headers ?? {}, body };
}

async function finish(
  { database, realClock }: AnswerOnceDeps,
  { scope, key, busyUntil: firstUntil }: Pick<IdempotentRequest, 'scope' | 'key' | 'busyUntil'>,
  perform: () => Promise<KeyedAnswer>,
): Promise<KeyedAnswer> {
  let kept = false;
  let busyUntil = firstUntil;
  let renewing: Promise<void> = Promise.resolve();
  const stopRenewing = every(RENEW_MS, () => {
    const until = realClock.now() + BUSY_MS;
    renewing = renewing
      .then(() => renewRequest(database.db, { scope, key, busyUntil, until }))
      .then((renewed) => {
        if (renewed) busyUntil = until;
      })
      // One failed renewal is harmless: the next one may succeed.
      .catch(() => undefined);
  });
  try {
    const answer = await perform();
    if (answer.status >= 500) return answer;
    kept = await keepAnswer(database.db, { ...answer, scope, key, headers: answer.headers ?? {} });
    if (kept) return answer;
    // Another try has taken over and answered: its answer is the one that counts.
    const known = await findRequest(database.db, { scope, key });
    return (known && firstAnswer(known)) ?? answer;
  } finally {
    stopRenewing();
    await renewing;
    // Whether a try that failed had its effect is not known, so the next one gets the same id and looks for it.
    if (!kept) await freeRequest(database.db, { scope, key, busyUntil }).catch(() => undefined);
    await forgetOldRequests(database.db, realClock.now() - KEPT_MS).catch(() => undefined);
  }
}

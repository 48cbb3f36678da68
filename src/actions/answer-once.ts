/**
 * Idempotency-Key: what had its effect is done once, and the same key with the same body gets the same answer, word for
 * word, even when the first request was cut off between its effect and its answer. Kept for a day.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../ledger/database/database.ts';
import {
  beginRequest,
  findRequest,
  forgetOldRequests,
  forgetRequest,
  freeRequest,
  type IdempotentRequest,
  keepAnswer,
  renewEffect,
  renewRequest,
  takeOverRequest,
} from '../ledger/limits/idempotency.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/ids.ts';
import { createMutex } from '../lib/mutex.ts';
import { delay, every } from '../lib/timers.ts';

interface AnswerOnceDeps {
  database: Database;
  /** Real time, in which a request waits for the answer of another process. */
  realClock: Clock;
  random: Random;
}

export interface KeyedAnswer {
  status: number;
  /** The headers that only this answer has, such as Retry-After. */
  headers?: Record<string, string>;
  /** Its exact text. */
  body: string;
}

/**
 * What is kept under the key once a try was answered. answer: the try had its effect, so all later ones get its answer.
 * id: the effect may still come, so the next try looks for it. nothing: there was no effect, so the key is free again.
 */
export type Kept = 'answer' | 'id' | 'nothing';

export type TriedAnswer = KeyedAnswer & { kept: Kept };

/** What a keyed request does: the id that its effect has, and whether an earlier try may have caused it already. */
export interface Effect {
  id: string;
  mayExist: boolean;
  /** A new id, for a request whose earlier effect was undone. */
  renew(): Promise<string>;
}

export type KeyRefusal = { code: 'idempotency_key_reused' } | { code: 'request_in_progress' };

/** How long a claim on a request holds. A worker that has not renewed its claim by then counts as cut off. */
const BUSY_MS = 5_000;
/** How often a worker renews its claim: three renewals may fail before another caller takes over. */
const RENEW_MS = 1_200;
/** How long a second request waits for the first one's answer: longer than any request takes. */
const WAIT_MS = 40_000;
const KEPT_MS = 24 * 3_600_000;
/** How often a process deletes answers that are older than that: each time is a commit. */
const FORGET_EVERY_MS = 60_000;
/** How often the ledger is asked for the answer that another process works on: soon at first, then more rarely. */
const POLL_FIRST_MS = 25;
const POLL_LAST_MS = 500;

export const IDEMPOTENCY_KEY_MAX = 255;

interface KeyedRequest {
  /** Whose key it is: nobody gets, or blocks, what another caller asks under the same key. */
  scope: string;
  key: string;
  body: Uint8Array | string;
}

/**
 * Returns the function that answers a keyed request. `perform` gets the id that its effect must have: when an earlier
 * try under the key was cut off, it is the same one, and `perform` must look whether the effect is there.
 */
export function createAnswerOnce(deps: AnswerOnceDeps) {
  // Requests that arrive while the same one is under way in this process share its answer without asking the ledger.
  const underWay = new Map<string, { requestDigest: string; answer: Promise<KeyedAnswer | KeyRefusal> }>();
  const asked = { ...deps, forgetOld: rarely(deps) };

  return function answerOnce(
    { scope, key, body }: KeyedRequest,
    perform: (effect: Effect) => Promise<TriedAnswer>,
  ): Promise<KeyedAnswer | KeyRefusal> {
    const requestDigest = createHash('sha256').update(body).digest('hex');
    const name = `${scope}\n${key}`;
    const first = underWay.get(name);
    if (first && first.requestDigest !== requestDigest)
      return Promise.resolve({ code: 'idempotency_key_reused' });
    if (first) return first.answer;
    const answer = answerOrWait(asked, { scope, key, requestDigest }, perform).finally(() =>
      underWay.delete(name),
    );
    underWay.set(name, { requestDigest, answer });
    return answer;
  };
}

/** Returns the function that deletes answers which were kept for long enough, unless this process has just done so. */
function rarely({ database, realClock }: AnswerOnceDeps): () => Promise<void> {
  let lastMs: number | undefined;
  return async () => {
    const nowMs = realClock.now();
    if (lastMs !== undefined && nowMs < lastMs + FORGET_EVERY_MS) return;
    lastMs = nowMs;
    await forgetOldRequests(database.db, { now: database.now, keptMs: KEPT_MS }).catch(() => undefined);
  };
}

type AskedDeps = AnswerOnceDeps & { forgetOld: () => Promise<void> };

async function answerOrWait(
  deps: AskedDeps,
  request: { scope: string; key: string; requestDigest: string },
  perform: (effect: Effect) => Promise<TriedAnswer>,
): Promise<KeyedAnswer | KeyRefusal> {
  const { database, realClock, random } = deps;
  const { scope, key, requestDigest } = request;
  const claim = { scope, key, now: database.now, forMs: BUSY_MS };
  const startedMs = realClock.now();
  let pauseMs = POLL_FIRST_MS;
  let known: IdempotentRequest | undefined;
  do {
    // Also when the first try came to nothing and was forgotten: this request is now the first.
    if (!known) {
      const wanted = { ...claim, requestDigest, effectId: random.uuid() };
      const begun = await beginRequest(database.db, wanted);
      if (begun) return finish(deps, { ...begun, mayExist: false }, perform);
    }
    known = await findRequest(database.db, { scope, key });
    if (!known) continue;
    if (known.requestDigest !== requestDigest) return { code: 'idempotency_key_reused' };
    const first = firstAnswer(known);
    if (first) return first;
    const busyUntil = await takeOverRequest(database.db, claim);
    if (busyUntil !== undefined) return finish(deps, { ...known, busyUntil, mayExist: true }, perform);
    await delay(pauseMs);
    pauseMs = Math.min(2 * pauseMs, POLL_LAST_MS);
  } while (realClock.now() < startedMs + WAIT_MS);
  return { code: 'request_in_progress' };
}

/** The answer that is kept of a request; undefined while it has none. */
function firstAnswer({ status, headers, body }: IdempotentRequest): Required<KeyedAnswer> | undefined {
  return status === null || body === null ? undefined : { status, headers: headers ?? {}, body };
}

type Claim = Pick<IdempotentRequest, 'scope' | 'key' | 'busyUntil' | 'effectId'> & { mayExist: boolean };

async function finish(
  deps: AskedDeps,
  claim: Claim,
  perform: (effect: Effect) => Promise<TriedAnswer>,
): Promise<KeyedAnswer> {
  const { database } = deps;
  const { scope, key, mayExist } = claim;
  const held = holdRequest(deps, claim);
  // Whether a try that failed had its effect is not known, so the next one gets the same id and looks for it.
  let kept: Kept = 'id';
  try {
    const { kept: wanted, ...answer } = await perform({
      id: claim.effectId,
      mayExist,
      renew: held.renewEffect,
    });
    // An earlier try that was cut off may still have its effect under this id.
    if (wanted === 'nothing' && !mayExist) kept = 'nothing';
    if (wanted !== 'answer') return answer;
    if (await keepAnswer(database.db, { ...answer, scope, key, headers: answer.headers ?? {} })) {
      kept = 'answer';
      return answer;
    }
    // Another try has taken over and answered: its answer is the one that counts.
    const known = await findRequest(database.db, { scope, key });
    return (known && firstAnswer(known)) ?? answer;
  } finally {
    const of = { scope, key, busyUntil: await held.end() };
    if (kept === 'id') await freeRequest(database.db, of).catch(() => undefined);
    if (kept === 'nothing') await forgetRequest(database.db, of).catch(() => undefined);
    await deps.forgetOld();
  }
}

/** Renews the claim on a request until its end. */
function holdRequest({ database, random }: AnswerOnceDeps, { scope, key, ...claim }: Claim) {
  let { busyUntil } = claim;
  const inTurn = createMutex();
  const stopRenewing = every(RENEW_MS, () => {
    inTurn(async () => {
      const term = { now: database.now, forMs: BUSY_MS };
      busyUntil = (await renewRequest(database.db, { scope, key, busyUntil, ...term })) ?? busyUntil;
      // One failed renewal is harmless: the next one may succeed.
    }).catch(() => undefined);
  });
  return {
    renewEffect: () =>
      inTurn(async () => {
        const effectId = random.uuid();
        if (await renewEffect(database.db, { scope, key, busyUntil, effectId })) return effectId;
        throw new Error('another try has taken over this request');
      }),
    /** Resolves with the moment until which the claim holds. */
    end() {
      stopRenewing();
      return inTurn(async () => busyUntil);
    },
  };
}

/** Delivers webhooks: leases what is due, posts it, writes the answer down. At least once, in no order. */
import { setMaxListeners } from 'node:events';
import type { BusinessTime, Database } from '../ledger/database/database.ts';
import {
  type AttemptResult,
  dueEndpoints,
  type LeasedDelivery,
  leaseDeliveries,
  recordAttempts,
  releaseDeliveries,
  renewLeases,
  takeBackLeases,
} from '../ledger/webhooks/due-deliveries.ts';
import { createBatcher } from '../lib/batch/batcher.ts';
import type { Clock } from '../lib/clock.ts';
import type { Crash } from '../lib/crash-points.ts';
import { rootMessage } from '../lib/failures/root-cause.ts';
import type { Random } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { createLoop } from '../lib/loop.ts';
import { delay, every, within } from '../lib/timers.ts';
import { failingSince, nextAttemptAt, pausedUntil, verdictOf } from '../rules/webhook-schedule.ts';
import type { Post, Posted } from './post.ts';
import { signedHeaders } from './signatures.ts';

export interface DelivererDeps {
  database: Database;
  /** What schedules are measured by. */
  businessTime: BusinessTime;
  /** A clock that never steps: for how long an answer is tried to be written down. */
  realClock: Pick<Clock, 'now'>;
  random: Random;
  /** `post.ts` with its deps bound. */
  post: (wish: Post) => Promise<Posted>;
  log: Log;
  crash: Crash;
  /** An endpoint was turned off for what it answered. */
  onTurnedOff?: (() => void) | undefined;
  /** The name of this process. One that is the same after a restart, where one process runs, takes back its leases then. */
  owner?: string | undefined;
}

export interface DelivererSettings {
  /** Posts of one endpoint at once, in all processes together. */
  atOnceOfEndpoint: number;
  /** Posts of this process at once. */
  atOnce: number;
  /** Renewed for as long as the delivery is under way. */
  leaseMs: number;
  /** For how long an answer is tried to be written down; then the event is sent again. */
  answerTriesMs: number;
  pollMs: number;
  /** Answers in one commit. */
  recordMax: number;
  stopWaitMs: number;
}

export interface Deliverer {
  start(): void;
  /** Something is due. */
  nudge(): void;
  /** Ends the posts under way; what was not answered goes to the next process. */
  stop(): Promise<void>;
}

/** An answer that has come; what it means depends on the ledger's time, which the commit reads that writes it down. */
interface Answered {
  eventId: string;
  result: (nowMs: number) => AttemptResult;
}

/** Of a lease: two renewals may fail before it is over. */
const RENEWALS = 3;
/** Answers that cannot be written down are tried again this often. */
const RECORD_AGAIN_MS = 1_000;
/** Characters of an answer that the log keeps: enough for any message. */
const ANSWER_KEPT = 500;

/** How many deliveries are under way to each endpoint. */
function createSlots() {
  const underWay = new Map<string, { count: number; isFailing: boolean }>();
  return {
    underWay,
    take({ id, failingSince }: LeasedDelivery['endpoint']) {
      underWay.set(id, { count: (underWay.get(id)?.count ?? 0) + 1, isFailing: failingSince !== null });
    },
    free({ id }: LeasedDelivery['endpoint']) {
      const { count = 1, isFailing = false } = underWay.get(id) ?? {};
      if (count > 1) underWay.set(id, { count: count - 1, isFailing });
      else underWay.delete(id);
    },
  };
}

/** A deliverer that does nothing before `start`. Several processes may deliver at once. */
export function createDeliverer(deps: DelivererDeps, settings: DelivererSettings): Deliverer {
  const { database, businessTime, log, crash } = deps;
  const { atOnce, atOnceOfEndpoint: ofEndpoint, leaseMs } = settings;
  const slots = createSlots();
  const running = new Set<Promise<void>>();
  const ending = new AbortController();
  // Every post under way listens to it.
  setMaxListeners(0, ending.signal);
  const answers = createAnswerWriter(deps, settings);
  const owner = deps.owner ?? deps.random.uuid();
  const leases = new Set<string>();
  let [stopRenewing, hasTakenBack] = [() => {}, deps.owner === undefined];
  /** One that was not renewed in time may be another process's by now, which both survive: the event arrives twice. */
  const renew = () => renewLeases(database, { leases: [...leases], leaseMs }).catch(() => undefined);
  const run = async (leased: LeasedDelivery) => {
    const posted = await attempt(deps, leased, ending.signal).catch((error: unknown): Posted => {
      // It is tried again by the schedule as well: another way would be to try it for ever.
      log.error({ event: leased.eventId, error: rootMessage(error) }, 'a webhook could not be made');
      return { outcome: 'failed', why: 'it could not be made', ms: 0 };
    });
    if (posted) {
      crash('webhook.answered');
      const result = (nowMs: number) => resultOf(deps, { leased, posted, nowMs });
      await answers.write({ eventId: leased.eventId, result });
    } else await releaseDeliveries(database.db, [leased.lease]).catch(() => undefined);
  };
  const begin = (leased: LeasedDelivery) => {
    slots.take(leased.endpoint);
    leases.add(leased.lease);
    const promise = run(leased)
      .catch((error: unknown) => log.error({ error: rootMessage(error) }, 'a webhook could not be sent'))
      .finally(() => {
        running.delete(promise);
        leases.delete(leased.lease);
        slots.free(leased.endpoint);
        loop.nudge();
      });
    running.add(promise);
  };
  const loop = createLoop({
    name: 'webhooks',
    async turn() {
      if (running.size >= atOnce) return 'idle';
      if (!hasTakenBack) await takeBackLeases(database.db, owner);
      hasTakenBack = true;
      const times = { now: businessTime(), leaseNow: database.now };
      const due = await dueEndpoints(database.db, times);
      const endpoints = shareSlots(due, { underWay: slots.underWay, atOnce, ofEndpoint });
      if (endpoints.length === 0) return 'idle';
      const newLease = () => `${owner}/${deps.random.uuid()}`;
      const leased = await leaseDeliveries(database, {
        ...times,
        endpoints,
        atOnce: ofEndpoint,
        leaseMs,
        newLease,
      });
      if (leased.length > 0) crash('webhook.leased');
      for (const one of leased) begin(one);
      return leased.length > 0 ? 'worked' : 'idle';
    },
    pauseMs: () => settings.pollMs,
    log,
  });
  return {
    start() {
      stopRenewing = every(leaseMs / RENEWALS, renew);
      loop.start();
    },
    nudge: loop.nudge,
    async stop() {
      await loop.stop();
      await within(settings.stopWaitMs, Promise.all(running));
      ending.abort();
      await Promise.all(running);
      await answers.idle();
      stopRenewing();
    },
  };
}

/** Writes answers down, those that come together in one commit, and again while that fails. */
function createAnswerWriter(
  { database, businessTime, realClock, log, crash, onTurnedOff }: DelivererDeps,
  { answerTriesMs, recordMax }: DelivererSettings,
) {
  const gathering = createBatcher({
    maxItems: recordMax,
    async run(answers: Answered[]) {
      crash('webhook.before-record');
      const results = (nowMs: number) => answers.map((answered) => answered.result(nowMs));
      const turnedOff = await recordAttempts(database, { now: businessTime(), results }, failingSince);
      crash('webhook.recorded');
      if (turnedOff.length > 0) onTurnedOff?.();
      return answers.map(() => undefined);
    },
  });
  return {
    idle: gathering.idle,
    async write(answered: Answered): Promise<void> {
      const untilMs = realClock.now() + answerTriesMs;
      for (;;) {
        try {
          return await gathering.submit(answered);
        } catch (error) {
          if (realClock.now() >= untilMs) {
            const facts = { event: answered.eventId, error: rootMessage(error) };
            return log.error(facts, 'the answer to a webhook is lost; it is sent again');
          }
          await delay(RECORD_AGAIN_MS);
        }
      }
    },
  };
}

/** One POST; undefined when this process stopped before an answer came. */
async function attempt(
  { post, crash }: DelivererDeps,
  { eventId, body: text, endpoint, leasedAt, signedAt }: LeasedDelivery,
  signal: AbortSignal,
): Promise<Posted | undefined> {
  const { secret, previousSecret, previousSecretUntil } = endpoint;
  const body = Buffer.from(text);
  const overlaps = previousSecret !== null && (previousSecretUntil ?? 0) > leasedAt;
  const headers = signedHeaders({
    secret,
    ...(overlaps && { previousSecret }),
    id: eventId,
    timestampSeconds: Math.floor(signedAt / 1_000),
    body,
  });
  crash('webhook.posting');
  const posted = await post({ url: endpoint.url, headers, body, signal });
  return posted.outcome === 'failed' && signal.aborted ? undefined : posted;
}

/** What an answer means for its delivery, to be written down at `nowMs` of the ledger's time. */
function resultOf(
  { random }: DelivererDeps,
  { leased, posted, nowMs: atMs }: { leased: LeasedDelivery; posted: Posted; nowMs: number },
): AttemptResult {
  const { eventId, endpoint, lease, tries, signedAt } = leased;
  const answered = posted.outcome === 'answered' ? posted : undefined;
  const verdict = verdictOf(answered ?? {});
  const shown = {
    id: `att_${random.uuid()}`,
    eventId,
    endpointId: endpoint.id,
    lease,
    atMs,
    ms: posted.ms,
    signedAt,
    status: answered?.status ?? null,
    why: posted.outcome === 'failed' ? posted.why : null,
    answer: answered?.body.slice(0, ANSWER_KEPT) || null,
  };
  if (verdict.kind !== 'failed') return { ...shown, outcome: verdict.kind };
  const { retryAfterMs } = verdict;
  return {
    ...shown,
    outcome: {
      nextAttemptAt: nextAttemptAt({ tries: tries + 1, nowMs: atMs, random: chance(random), retryAfterMs }),
      pausedUntil: pausedUntil({ nowMs: atMs, retryAfterMs }),
    },
  };
}

/** 0 up to 1. */
const chance = (random: Random) => Buffer.from(random.bytes(4)).readUInt32BE() / 2 ** 32;

// Shares the posts that may be under way at once among endpoints, so that slow and failing ones leave room for the
// others.

/** An endpoint for which something is due. */
interface Due {
  id: string;
  /** Nothing but failures since then; null after a success. */
  failingSince: number | null;
}

/**
 * How many posts each endpoint may begin now. An endpoint that only fails has one at a time, and all of those have half of
 * `atOnce` together. The others have up to `ofEndpoint` each while less than half is under way, and one each from there on.
 */
export function shareSlots(
  due: Due[],
  {
    underWay,
    atOnce,
    ofEndpoint,
  }: {
    /** Posts under way, by endpoint; whether that one was failing when they began. */
    underWay: ReadonlyMap<string, { count: number; isFailing: boolean }>;
    atOnce: number;
    ofEndpoint: number;
  },
): { id: string; slots: number }[] {
  const half = Math.ceil(atOnce / 2);
  const running = [...underWay.values()];
  let all = running.reduce((sum, { count }) => sum + count, 0);
  let failing = running.reduce((sum, { count, isFailing }) => sum + (isFailing ? count : 0), 0);
  const shares: { id: string; slots: number }[] = [];
  const healthyFirst = [...due].sort(
    (a, b) => Number(a.failingSince !== null) - Number(b.failingSince !== null),
  );
  for (const { id, failingSince } of healthyFirst) {
    const isFailing = failingSince !== null;
    const most = isFailing || all >= half ? 1 : ofEndpoint;
    const room = Math.min(atOnce - all, isFailing ? half - failing : atOnce);
    const slots = Math.min(most - (underWay.get(id)?.count ?? 0), room);
    if (slots <= 0) continue;
    shares.push({ id, slots });
    all += slots;
    if (isFailing) failing += slots;
  }
  return shares;
}

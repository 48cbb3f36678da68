/** Brings events to webhook endpoints: signed as Stripe signs them, again after each failure, on the emulator's clock. */
import { createHmac } from 'node:crypto';
import type { Database, Queries } from '../../ledger/database/database.ts';
import {
  type DeliveryAttempt,
  dueDeliveries,
  type EmulatedDelivery,
  findDelivery,
  findObject,
  listDeliveries,
  listObjects,
  updateDelivery,
  updateObject,
} from '../../ledger/emulator/processor.ts';
import type { Clock } from '../../lib/clock.ts';
import { rootMessage } from '../../lib/failures/root-cause.ts';
import { createDeadline, stopwatch } from '../../lib/timers.ts';
import type { DeliverAround } from '../faults/faulty-processor.ts';
import type { EndpointNotes, WebhookEndpoint } from './record-event.ts';
import type { Records, StripeObject } from './records.ts';

export interface DeliverySettings {
  /** Pauses before the second attempt and those that follow. */
  retriesMs: readonly number[];
  /** What an endpoint has for its whole answer. */
  timeoutMs: number;
  /** How many are on their way to one endpoint at once. */
  atOnceMax: number;
  /** What is kept of an answer. */
  answerMaxBytes: number;
}

interface DeliveryDeps {
  database: Database;
  books: Records;
  clock: Clock;
  settings: DeliverySettings;
  /** Around each attempt. */
  around: DeliverAround;
  /** Called when an attempt has ended, so that the next one is found. */
  onEnd: () => void;
}

/** Of a development stack. */
const ENDPOINTS_MAX = 1_000;

/** `Stripe-Signature` for a body that is sent at a moment, in seconds. */
export const signatureOf = (of: { secret: string; body: string; seconds: number }): string =>
  `t=${of.seconds},v1=${createHmac('sha256', of.secret).update(`${of.seconds}.${of.body}`).digest('hex')}`;

/** `sendDue` begins what is due and does not wait for the answers; `stop` cuts what is under way, to be sent again. */
export function createDeliverer(deps: DeliveryDeps) {
  const { database, clock, settings } = deps;
  const underWay = new Map<string, { endpointId: string; work: Promise<void> }>();
  const stopping = new AbortController();

  async function attempt(delivery: EmulatedDelivery): Promise<void> {
    const event = await findObject(database.db, delivery.eventId);
    const endpoint = await findObject(database.db, delivery.endpointId);
    if (!event || !endpoint) return finish(delivery, undefined);
    const { url } = endpoint.body as unknown as WebhookEndpoint;
    const { secret } = endpoint.notes as unknown as EndpointNotes;
    const send = () =>
      post(
        { clock, settings, stopping: stopping.signal },
        { url, secret, event: event.body as unknown as StripeObject },
      );
    const dropped = () => ({ at: clock.now(), status: 200, answer: '', durationMs: 0 });
    const tried = await deps.around(send, { dropped, stopping: stopping.signal });
    if (!stopping.signal.aborted) await finish(delivery, tried);
  }

  /** Without an attempt there is nothing left to send, or no endpoint to send it to. */
  const finish = (delivery: EmulatedDelivery, tried: DeliveryAttempt | undefined): Promise<void> =>
    deps.books.change(async ({ queries, nowMs }) => {
      // It may have been ended meanwhile, with its endpoint.
      const now = await findDelivery(queries, delivery.id);
      if (now?.state !== 'waiting') return;
      const attempts = tried ? [...now.attempts, tried] : now.attempts;
      const delivered = tried?.status != null && tried.status >= 200 && tried.status < 300;
      const pauseMs = tried && !delivered ? settings.retriesMs[attempts.length - 1] : undefined;
      const state = delivered ? 'delivered' : pauseMs === undefined ? 'failed' : 'waiting';
      await updateDelivery(queries, {
        id: now.id,
        state,
        attempts,
        nextAt: pauseMs === undefined ? null : nowMs + pauseMs,
      });
      if (delivered) await countPending(queries, now.eventId);
    });

  /** Each endpoint has ways of its own, so that one that hangs holds up no other. */
  async function sendDueTo(endpointId: string): Promise<void> {
    const busy = [...underWay.values()].filter((one) => one.endpointId === endpointId).length;
    const room = settings.atOnceMax - busy;
    if (room <= 0) return;
    // What is under way is due as well.
    const limit = settings.atOnceMax + busy;
    const due = await dueDeliveries(database.db, { endpointId, nowMs: clock.now(), limit });
    for (const delivery of due.filter(({ id }) => !underWay.has(id)).slice(0, room)) {
      const work = attempt(delivery).finally(() => {
        underWay.delete(delivery.id);
        deps.onEnd();
      });
      underWay.set(delivery.id, { endpointId, work });
      // What the ledger refuses is due again at the next turn.
      work.catch(() => undefined);
    }
  }

  return {
    async sendDue(): Promise<void> {
      const endpoints = await listObjects(database.db, { kind: 'webhook_endpoint', limit: ENDPOINTS_MAX });
      for (const { id } of endpoints) await sendDueTo(id);
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.allSettled([...underWay.values()].map(({ work }) => work));
    },
  };
}

/** Keeps in the event how many endpoints have not taken it. */
async function countPending(tx: Queries, eventId: string): Promise<void> {
  const event = await findObject(tx, eventId);
  const all = await listDeliveries(tx, { eventIds: [eventId] });
  const delivered = new Set(all.filter(({ state }) => state === 'delivered').map((one) => one.endpointId));
  const pending = new Set(all.map((one) => one.endpointId).filter((id) => !delivered.has(id)));
  if (event)
    await updateObject(tx, { id: event.id, body: { ...event.body, pending_webhooks: pending.size } });
}

/** One attempt, with how it ended; a cut one ends like an endpoint that is not there. */
async function post(
  { clock, settings, stopping }: Pick<DeliveryDeps, 'clock' | 'settings'> & { stopping: AbortSignal },
  of: { url: string; secret: string; event: StripeObject },
): Promise<DeliveryAttempt> {
  const at = clock.now();
  const body = JSON.stringify(of.event, null, 2);
  const elapsedMs = stopwatch();
  const deadline = createDeadline(settings.timeoutMs);
  const ended = (status: number | null, answer: string) => ({
    at,
    status,
    answer,
    durationMs: Math.round(elapsedMs()),
  });
  try {
    const response = await fetch(of.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks; emulated by rewards)',
        'stripe-signature': signatureOf({ secret: of.secret, body, seconds: Math.floor(at / 1_000) }),
      },
      body,
      // A redirect is a failure, as it is for Stripe.
      redirect: 'manual',
      signal: AbortSignal.any([deadline.signal, stopping]),
    });
    return ended(response.status, await startOptionsOf(response, settings.answerMaxBytes));
  } catch (error) {
    const late = deadline.signal.aborted;
    return ended(null, late ? `no answer within ${settings.timeoutMs / 1_000} s` : rootMessage(error));
  } finally {
    deadline.over();
  }
}

/** The beginning of an answer's text; the rest is not read. */
async function startOptionsOf(response: Response, bytesMax: number): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const parts: Uint8Array[] = [];
  let size = 0;
  while (size < bytesMax) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
  }
  await reader.cancel().catch(() => undefined);
  return Buffer.concat(parts).subarray(0, bytesMax).toString('utf8');
}

/** The emulated payment processor: its API, its page, its events, and what the control API asks of it. */
import type { Hono } from 'hono';
import type { ControlProcessorDeps } from '../../http/control/processor.ts';
import { dueObjects, nextDueMs } from '../../ledger/emulator/processor.ts';
import type { Log } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';
import type { FaultRegistry } from '../faults/fault-registry.ts';
import { faultyApi, faultyDelivery, type ProcessorApi } from '../faults/faulty-processor.ts';
import { createApiHost } from './api/api-host.ts';
import { createCheckoutHost } from './checkout/checkout-host.ts';
import { controlProcessor } from './control-processor.ts';
import { createDeliverer, type DeliverySettings } from './deliver-events.ts';
import type { Session, SessionNotes } from './objects/session-object.ts';
import { settleSession } from './pay-session.ts';
import { addEndpoint, type EndpointNotes, type WebhookEndpoint } from './record-event.ts';
import { createRecords, type Entry, type RecordsDeps } from './records.ts';

interface ProcessorDeps extends RecordsDeps {
  log: Log;
  clock: RecordsDeps['clock'] & { onChange(listener: () => void): () => void };
  settings: DeliverySettings;
  faults: Pick<FaultRegistry, 'strike'>;
  /** Of the development stack: the API's key, and what the events to our own endpoint are signed with. */
  secrets: { secretKey: string; webhookSecret: string };
}

export interface EmulatedProcessor {
  /** `/v1`, for the package `stripe`. */
  api: ProcessorApi;
  /** `/_pay`, for buyers. */
  pages: Pick<Hono, 'fetch'>;
  control: Omit<ControlProcessorDeps, 'begin'>;
  /** Tells where the pages are and where our own endpoint takes events; the processor begins to work. */
  start(at: { origin: string; eventsTo: string }): Promise<void>;
  stop(): Promise<void>;
}

/** Our own endpoint; the others have ids of their own. */
const OWN_ENDPOINT = 'we_1RewardsPaymentMint';
/** Sessions and payments that time changes in one go. */
const DUE_AT_ONCE = 100;
/** With nothing due, the loop sleeps until a change; this only bounds what a fault could cost. */
const LONGEST_PAUSE_MS = 60_000;

export function openProcessor(deps: ProcessorDeps): EmulatedProcessor {
  const { database, clock, log, secrets } = deps;
  const books = createRecords(deps);
  let origin = '';
  let pauseMs = LONGEST_PAUSE_MS;

  /** Expires sessions and lets payments arrive that are due by now. */
  async function catchUp(): Promise<void> {
    for (;;) {
      const due = await dueObjects(database.db, { nowMs: clock.now(), limit: 1 });
      if (due.length === 0) return;
      await books.change(async (change) => {
        const rows = await dueObjects(change.queries, { nowMs: change.nowMs, limit: DUE_AT_ONCE });
        for (const { body, notes, about, dueAt } of rows) {
          await settleSession(change, { body, notes, about, dueAt } as unknown as Entry<
            Session,
            SessionNotes
          >);
        }
      });
      loop.nudge();
    }
  }

  const loop = createLoop({
    name: 'emulated processor',
    log,
    pauseMs: () => pauseMs,
    async turn() {
      await catchUp();
      await deliverer.sendDue();
      const nextMs = await nextDueMs(database.db);
      // What is under way is due as well, and its end nudges the loop.
      const leftMs = nextMs === undefined ? LONGEST_PAUSE_MS : nextMs - clock.now();
      pauseMs = leftMs <= 0 ? LONGEST_PAUSE_MS : Math.min(leftMs, LONGEST_PAUSE_MS);
      return 'idle';
    },
  });
  const deliverer = createDeliverer({
    database,
    books,
    clock,
    settings: deps.settings,
    around: faultyDelivery(deps),
    onEnd: () => loop.nudge(),
  });
  const nudge = () => loop.nudge();
  const pageOf = (sessionId: string) => `${origin}/_pay/${sessionId}`;
  const shared = { books, log, catchUp, nudge };
  let offClock: (() => void) | undefined;
  return {
    api: faultyApi(
      createApiHost({ ...shared, db: database.db, pageOf, secretKey: secrets.secretKey }),
      deps.faults,
    ),
    pages: createCheckoutHost(shared),
    control: controlProcessor({ ...shared, pageOf, ownEndpoint: OWN_ENDPOINT }),
    async start(at) {
      origin = at.origin;
      await listenOurselves(books, { url: at.eventsTo, secret: secrets.webhookSecret });
      offClock = clock.onChange(nudge);
      loop.start();
    },
    async stop() {
      offClock?.();
      await loop.stop();
      await deliverer.stop();
    },
  };
}

/** Our own endpoint, where this run has it. */
const listenOurselves = (books: ReturnType<typeof createRecords>, of: { url: string; secret: string }) =>
  books.change(async (change) => {
    const known = await change.find<WebhookEndpoint, EndpointNotes>('webhook_endpoint', OWN_ENDPOINT);
    if (known) {
      known.body.url = of.url;
      known.notes.secret = of.secret;
      await change.store(known);
      return;
    }
    const description = 'payment-mint of this stack';
    await addEndpoint(change, { id: OWN_ENDPOINT, ...of, events: ['*'], description });
  });

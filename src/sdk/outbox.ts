/**
 * Sends events so that each arrives once: it is stored before it is sent, with a key by which the service recognises
 * it, and removed once an answer came. The next page finishes what this one could not.
 */
import { isMap, later, nowMs, persist, randomKey, request } from './browser.ts';
import type { Store } from './store.ts';

/** The service's own words, and its status; 0 when it was not reached. */
export interface Answer extends Record<string, unknown> {
  success: boolean;
  httpStatus: number;
  error?: string;
}

interface Letter {
  /** Sent as Idempotency-Key. */
  key: string;
  eventType: string;
  /** The exact bytes: the same key with another body would be refused. */
  body: string;
  writtenAtMs: number;
  /** A page is at work on it until then. */
  busyUntilMs: number;
}

const PREFIX = 'out.';
/** Services keep idempotency keys for a day; later the same event could count again. */
const KEPT_MS = 12 * 3_600_000;
/** Longer than one try takes. */
const BUSY_MS = 40_000;
/** The most bytes that browsers still send for a page that is closing. */
const KEEPALIVE_MAX = 60_000;

export const failure = (error: string): Answer => ({ success: false, httpStatus: 0, error });

/** `tell` hears of every answer, also of those to events of earlier pages. */
export function createOutbox(
  store: Store,
  { endpoint, tell }: { endpoint: string; tell: (answer: Answer, eventType: string) => void },
) {
  const inHand = new Map<string, Letter>();
  const keep = (letter: Letter) => store.write(PREFIX + letter.key, letter);

  async function deliver(letter: Letter): Promise<Answer> {
    inHand.set(letter.key, letter);
    // Before anything else: a tab can be closed, or die, while it waits for the network.
    keep(letter);
    const reply = await persist(async () => {
      keep({ ...letter, busyUntilMs: nowMs() + BUSY_MS });
      const heard = await request(endpoint, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': letter.key },
        body: letter.body,
        // A form's submission leaves the page; the event still goes out.
        keepalive: letter.body.length < KEEPALIVE_MAX,
      });
      if (!heard) keep(letter);
      return heard;
    });
    inHand.delete(letter.key);
    if (reply) store.write(PREFIX + letter.key, undefined);
    const answer: Answer = reply
      ? { ...reply.body, success: reply.body.success === true, httpStatus: reply.httpStatus }
      : failure('The service could not be reached; the event is sent again later');
    tell(answer, letter.eventType);
    return answer;
  }

  /** Takes up what was left by earlier pages, or given up for a while by this one. */
  function resume() {
    for (const letter of store.list(PREFIX)) {
      if (!isLetter(letter) || inHand.has(letter.key)) continue;
      if (nowMs() - letter.writtenAtMs > KEPT_MS) store.write(PREFIX + letter.key, undefined);
      else if (busyMs(letter) === 0) void deliver({ ...letter, busyUntilMs: 0 });
      // The page that was sending it may have died.
      else later(busyMs(letter), resume);
    }
  }
  addEventListener('online', resume);
  addEventListener('pageshow', resume);
  // The next page need not wait until this one's time is over.
  addEventListener('pagehide', () => inHand.forEach(keep));

  return {
    resume,
    /** Resolves with the answer, or with a failure when no answer came for now; never rejects. */
    send: (eventType: string, body: string): Promise<Answer> =>
      deliver({ key: randomKey(), eventType, body, writtenAtMs: nowMs(), busyUntilMs: 0 }),
  };
}

/** How much longer another page is at work on it; a time that no page can have written is ignored. */
function busyMs({ busyUntilMs }: Letter): number {
  const leftMs = busyUntilMs - nowMs();
  return leftMs > 0 && leftMs <= BUSY_MS ? leftMs : 0;
}

const isLetter = (value: unknown): value is Letter =>
  isMap(value) &&
  typeof value.key === 'string' &&
  typeof value.body === 'string' &&
  typeof value.eventType === 'string' &&
  typeof value.writtenAtMs === 'number' &&
  typeof value.busyUntilMs === 'number';

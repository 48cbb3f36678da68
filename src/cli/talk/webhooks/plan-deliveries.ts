/** Which events are delivered in which order, and what is done to each on its way. */
import type { JsonObject } from '../../service/assignments.ts';
import type { RecordedEvent } from './recorded-events.ts';

export type Tampering = 'body' | 'signature' | 'timestamp';

/** `shuffle` with a seed gives the same order again. */
export type Order = { kind: 'reverse' } | { kind: 'shuffle'; seed: number } | undefined;

interface Plan {
  times: number;
  reorder?: Order;
  tamper?: Tampering | undefined;
  /** Each delivery gets an id of its own, made from the event's. */
  newIds: boolean;
}

export interface PlannedDelivery {
  /** From 1, in the order in which they are sent. */
  number: number;
  event: RecordedEvent;
  /** As it is signed. */
  body: string;
  tamper?: Tampering | undefined;
}

/** Round after round: each event once, then each a second time. */
export function planDeliveries(events: readonly RecordedEvent[], plan: Plan): PlannedDelivery[] {
  const rounds = Array.from({ length: plan.times }, (_, round) =>
    events.map((event) => (plan.newIds ? withNewId(event, round + 1) : event)),
  ).flat();
  return ordered(rounds, plan.reorder).map((event, index) => ({
    number: index + 1,
    event,
    body: JSON.stringify(event.payload, null, 2),
    tamper: plan.tamper,
  }));
}

function withNewId(event: RecordedEvent, round: number): RecordedEvent {
  const id = `${event.id}_${round}`;
  const payload: JsonObject = { ...event.payload, id };
  return { ...event, id, payload };
}

function ordered<Item>(items: Item[], order: Order): Item[] {
  if (!order) return items;
  if (order.kind === 'reverse') return items.toReversed();
  const shuffled = [...items];
  const next = numbersFrom(order.seed);
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = next() % (last + 1);
    [shuffled[last], shuffled[other]] = [shuffled[other] as Item, shuffled[last] as Item];
  }
  return shuffled;
}

/** The same whole numbers for the same seed: the generator mulberry32. */
function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** What arrives of a signed body: with `body` another object's id, or else another last character. */
export function tamperedBody({ body, tamper, event }: PlannedDelivery): string {
  if (tamper !== 'body') return body;
  const at =
    event.objectId === '' ? body.length - 2 : body.lastIndexOf(event.objectId) + event.objectId.length - 1;
  return `${body.slice(0, at)}${otherThan(body[at])}${body.slice(at + 1)}`;
}

/** What arrives of a header `t=…,v1=…`: with `signature` another last digit, with `timestamp` the next second. */
export function tamperedHeader(header: string, tamper: Tampering | undefined): string {
  if (tamper === 'signature') return `${header.slice(0, -1)}${otherThan(header.at(-1))}`;
  if (tamper === 'timestamp')
    return header.replace(/t=(\d+)/, (_, seconds: string) => `t=${Number(seconds) + 1}`);
  return header;
}

const otherThan = (character: string | undefined) => (character === '0' ? '1' : '0');

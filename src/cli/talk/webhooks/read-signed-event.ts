/** An event of the payment processor from a request: its bytes, its signature verified, its fields. */
import Stripe from 'stripe';
import { isObject } from '../../service/assignments.ts';

/** What a receiver needs to know of an event. */
export interface SignedEvent {
  id: string;
  type: string;
  /** The object that it is about, such as a checkout session. */
  objectId: string | null;
}

type EventReading = { event: SignedEvent } | { status: number; error: string };

/** Clocks of sender and receiver may differ by this, and a recorded event may be this old. */
const TOLERANCE_SECONDS = 300;

/**
 * Verifies the header Stripe-Signature over the bytes that came and reads the event. The official package takes every
 * timestamp in the future, so that one is held to the tolerance here.
 */
export function readSignedEvent(
  { body, signature }: { body: Uint8Array; signature: string | null },
  { secret, nowMs }: { secret: string; nowMs: number },
): EventReading {
  if (!signature) return { status: 400, error: 'the header Stripe-Signature is missing' };
  let event: Stripe.Event;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    event = Stripe.webhooks.constructEvent(text, signature, secret, TOLERANCE_SECONDS, undefined, nowMs);
  } catch (error) {
    return { status: 400, error: reasonOf(error) };
  }
  const signedSeconds = Number(/(?:^|,)\s*t=(\d{1,12})(?:,|$)/.exec(signature)?.[1] ?? Number.NaN);
  if (!(signedSeconds - nowMs / 1_000 <= TOLERANCE_SECONDS))
    return { status: 400, error: 'the signature’s timestamp is in the future' };
  if (typeof event?.id !== 'string' || typeof event.type !== 'string')
    return { status: 400, error: 'the body is signed, but it is not an event' };
  return { event: { id: event.id, type: event.type, objectId: idOf(event.data?.object) } };
}

const idOf = (object: unknown) => (isObject(object) && typeof object.id === 'string' ? object.id : null);

/** In few words: the package's texts are long, and some show the whole header. */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'the body is signed, but it is not JSON';
  if (error instanceof TypeError) return 'the body is not UTF-8';
  const message = error instanceof Error ? error.message : '';
  if (/tolerance/i.test(message)) return 'the signature’s timestamp is too old';
  if (/matching the expected/i.test(message)) return 'the signature is not of this body under this secret';
  return 'the header Stripe-Signature is not t=<seconds>,v1=<digest>';
}

/** Events of payment processors have tens of KB at most. */
const BODY_MAX_BYTES = 512 * 1024;

/** Undefined when the body is longer than the limit; the rest of it is not read. */
export async function readBody(request: Request, maxBytes = BODY_MAX_BYTES): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return undefined;
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

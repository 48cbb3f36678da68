/** The package's export `rewards/webhooks`: verifies a webhook in its Standard Webhooks form; see library-types.ts. */
import type { webcrypto } from 'node:crypto';
import { systemClock } from '../lib/clock.ts';
import type { ReceivedWebhook, WebhookEvent, WebhookProblem } from './library-types.ts';

/** As Standard Webhooks has it. */
const TOLERANCE_SECONDS = 300;
/** The service sends one, or two while a secret is replaced; each that a stranger adds costs a digest of the body. */
const SIGNATURES_MAX = 8;

export class WebhookError extends Error {
  override name = 'WebhookError';
  readonly reason: WebhookProblem;
  constructor(reason: WebhookProblem, message: string) {
    super(message);
    this.reason = reason;
  }
}

export async function verifyWebhook(received: ReceivedWebhook): Promise<WebhookEvent> {
  const { body, secret, toleranceSeconds = TOLERANCE_SECONDS, now = systemClock().now } = received;
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(received.headers, name),
  );
  if (!id || !timestamp || !signatures)
    throw new WebhookError(
      'signature_missing',
      'webhook-id, webhook-timestamp and webhook-signature belong together: one of these headers is missing',
    );
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const keys = await Promise.all([secret].flat().map(keyOf));
  const given = signatures
    .split(' ', SIGNATURES_MAX)
    .flatMap((one) => (one.startsWith('v1,') ? [bytesOf(one.slice(3))] : []));
  let isOurs = false;
  // Web Crypto compares in constant time.
  for (const key of keys)
    for (const digest of given)
      if (digest && (await crypto.subtle.verify('HMAC', key, digest, signed))) isOurs = true;
  if (!isOurs)
    throw new WebhookError(
      'signature_wrong',
      'no signature is of this secret and this body: verify the bytes as they came, with the secret of this endpoint',
    );
  refuseOtherTimes(Number(timestamp), { toleranceSeconds, nowSeconds: now() / 1_000 });
  return eventIn(bytes);
}

function headerOf(headers: ReceivedWebhook['headers'], name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : undefined;
}

function keyOf(secret: string): Promise<webcrypto.CryptoKey> {
  const bytes = bytesOf(secret.trim().replace(/^whsec_/, ''));
  if (!bytes || bytes.length === 0)
    throw new WebhookError(
      'secret_malformed',
      'the secret is whsec_ and base64, as `endpoints add` printed it',
    );
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** Undefined where the text is no base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** `at` is signed, so that it is the time at which the service sent it. */
function refuseOtherTimes(
  at: number,
  { toleranceSeconds, nowSeconds }: { toleranceSeconds: number; nowSeconds: number },
): void {
  const aheadSeconds = at - nowSeconds;
  if (Math.abs(aheadSeconds) <= toleranceSeconds) return;
  const far = `${Math.round(Math.abs(aheadSeconds))} s, more than ${toleranceSeconds} s`;
  if (aheadSeconds > 0)
    throw new WebhookError('too_new', `it was signed ${far} from now: this machine's clock may be wrong`);
  throw new WebhookError('too_old', `it was signed ${far} ago: somebody may have sent a kept one again`);
}

function eventIn(bytes: Uint8Array): WebhookEvent {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    event = undefined;
  }
  const { id, type, data } = (event ?? {}) as Partial<WebhookEvent>;
  if (typeof id !== 'string' || typeof type !== 'string' || typeof data !== 'object' || data === null)
    throw new WebhookError('body_malformed', 'the body is signed, and is no event of this service');
  return event as WebhookEvent;
}

/** The signatures of a webhook, in the three forms that receivers know: made, and verified. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Random } from '../lib/ids.ts';

const SECRET_BYTES = 32;

/** `whsec_` and the base64 of 32 random bytes. */
export const createWebhookSecret = (random: Pick<Random, 'bytes'>): string =>
  `whsec_${Buffer.from(random.bytes(SECRET_BYTES)).toString('base64')}`;

const hex = (secret: string, ...parts: (string | Uint8Array)[]): string => {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
};

/** Lowercase hex of HMAC-SHA256(secret's text, body). */
const bareSignature = (secret: string, body: Uint8Array): string => hex(secret, body);

/** The `v1` of Stripe's form: the seconds, a full stop and the body, under the secret's text. */
const timestampedSignature = (secret: string, timestampSeconds: number, body: Uint8Array): string =>
  hex(secret, `${timestampSeconds}.`, body);

/** `v1,` and base64, as Standard Webhooks has it: id, seconds and body, under the key that the secret stands for. */
const standardSignature = (
  secret: string,
  { id, timestampSeconds, body }: Pick<Signed, 'id' | 'timestampSeconds' | 'body'>,
): string => new Webhook(secret).sign(id, new Date(timestampSeconds * 1_000), Buffer.from(body));

interface Signed {
  secret: string;
  /** The one that `secret` replaces, while both are valid. */
  previousSecret?: string;
  /** The event's; the same for every attempt. Without a full stop, which separates the signed parts. */
  id: string;
  /** The attempt's own time. */
  timestampSeconds: number;
  /** UTF-8, byte for byte as it is sent. */
  body: Uint8Array;
}

/**
 * The headers of one attempt:
 *
 * - `X-Service-Signature`: lowercase hex of HMAC-SHA256(secret's text, body), and nothing else in it. During a rotation
 *   it stays that of the previous secret, so that a receiver which was not told yet goes on working, and
 *   `X-Service-Signature-Next` has that of the new one.
 * - `X-Service-Signature-Timestamped`: `t=…,v1=…` as Stripe's libraries verify it, with one `v1` per secret.
 * - `webhook-id`, `webhook-timestamp`, `webhook-signature`: Standard Webhooks, whose key is the base64 after `whsec_`,
 *   with one signature per secret.
 */
export function signedHeaders({ secret, previousSecret, id, timestampSeconds, body }: Signed) {
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret];
  const timestamped = secrets.map((one) => `v1=${timestampedSignature(one, timestampSeconds, body)}`);
  return {
    'X-Service-Signature': bareSignature(previousSecret ?? secret, body),
    ...(previousSecret !== undefined && { 'X-Service-Signature-Next': bareSignature(secret, body) }),
    'X-Service-Signature-Timestamped': [`t=${timestampSeconds}`, ...timestamped].join(','),
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': secrets
      .map((one) => standardSignature(one, { id, timestampSeconds, body }))
      .join(' '),
  };
}

// What the receiver of a webhook finds out about its signatures, form by form.

type SignatureVerdict = 'valid' | 'absent' | 'wrong' | 'too old' | 'too new';

export interface WebhookVerdict {
  /** Whether each of the three forms is. */
  valid: boolean;
  bare: SignatureVerdict;
  timestamped: SignatureVerdict;
  standard: SignatureVerdict;
}

/** How far a timestamp may be from now, before and after: as Standard Webhooks has it. */
export const TOLERANCE_SECONDS = 300;

const isSame = (one: string, other: string): boolean => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
};

/** The verdict on signatures of one form, made at `timestamp`. */
function judge(
  given: string[],
  expected: (atSeconds: number) => string,
  timestamp: string,
  nowSeconds: number,
) {
  if (given.length === 0) return 'absent';
  if (!/^\d{1,12}$/.test(timestamp)) return 'wrong';
  const at = Number(timestamp);
  const wanted = expected(at);
  if (!given.some((one) => isSame(one, wanted))) return 'wrong';
  if (at < nowSeconds - TOLERANCE_SECONDS) return 'too old';
  return at > nowSeconds + TOLERANCE_SECONDS ? 'too new' : 'valid';
}

/** `headers` have names in small letters; `body` is what came, byte for byte. Compared in constant time. */
export function verifyWebhook(message: {
  secret: string;
  headers: Record<string, string | undefined>;
  body: Uint8Array;
  nowSeconds: number;
}): WebhookVerdict {
  const { secret, headers, body, nowSeconds } = message;
  const header = (name: string) => headers[name] ?? '';
  const listed = (text: string, separator: string) => text.split(separator).filter((one) => one !== '');

  const bares = [header('x-service-signature'), header('x-service-signature-next')].filter(
    (one) => one !== '',
  );
  const isBareRight = bares.some((one) => isSame(one, bareSignature(secret, body)));
  const bare = bares.length === 0 ? 'absent' : isBareRight ? 'valid' : 'wrong';

  const parts = listed(header('x-service-signature-timestamped'), ',');
  const [timestamp = ''] = parts.flatMap((part) => (part.startsWith('t=') ? [part.slice(2)] : []));
  const timestamped = judge(
    parts.filter((part) => !part.startsWith('t=')),
    (at) => `v1=${timestampedSignature(secret, at, body)}`,
    timestamp,
    nowSeconds,
  );

  const standard = judge(
    listed(header('webhook-signature'), ' '),
    (at) => standardSignature(secret, { id: header('webhook-id'), timestampSeconds: at, body }),
    header('webhook-timestamp'),
    nowSeconds,
  );
  const valid = [bare, timestamped, standard].every((verdict) => verdict === 'valid');
  return { valid, bare, timestamped, standard };
}

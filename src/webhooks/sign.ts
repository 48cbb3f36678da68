/** The signatures of a webhook, in the three forms that receivers know. */
import { createHmac } from 'node:crypto';
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
export const bareSignature = (secret: string, body: Uint8Array): string => hex(secret, body);

/** The `v1` of Stripe's form: the seconds, a full stop and the body, under the secret's text. */
export const timestampedSignature = (secret: string, timestampSeconds: number, body: Uint8Array): string =>
  hex(secret, `${timestampSeconds}.`, body);

/** `v1,` and base64, as Standard Webhooks has it: id, seconds and body, under the key that the secret stands for. */
export const standardSignature = (
  secret: string,
  { id, timestampSeconds, body }: Pick<Signed, 'id' | 'timestampSeconds' | 'body'>,
): string => new Webhook(secret).sign(id, new Date(timestampSeconds * 1_000), Buffer.from(body));

export interface Signed {
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

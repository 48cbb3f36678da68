/** `rewards webhooks sign`: every header that a signed body has. */
import { createHash } from 'node:crypto';
import type { Handler } from '../../machine/context.ts';
import { readBytes, utf8Of } from '../../machine/read-input.ts';
import { isObject } from '../../service/assignments.ts';
import { hmac, standardKey } from './schemes.ts';
import { secretFrom } from './secret.ts';

interface SignOptions {
  file: string;
  secret?: string;
  timestamp?: number;
  id?: string;
  scheme?: 'processor' | 'service';
}

export const signBody: Handler<SignOptions> = async (context, { file, secret: given, ...options }) => {
  const secret = secretFrom(given);
  const body = await readBytes(context.runtime, file);
  const text = utf8Of(body, file);
  const timestamp = options.timestamp ?? Math.floor(context.runtime.clock.now() / 1_000);
  const { default: Stripe } = await import('stripe');
  const timestamped = Stripe.webhooks.generateTestHeaderString({ payload: text, secret, timestamp });
  const headers: Record<string, string> = {
    ...(options.scheme !== 'service' && { 'Stripe-Signature': timestamped }),
    ...(options.scheme !== 'processor' && {
      'X-Service-Signature': hmac(secret, body).toString('hex'),
      'X-Service-Signature-Timestamped': timestamped,
      ...standardHeaders({ secret, id: options.id ?? idOf(text), timestamp, body }),
    }),
  };
  if (options.scheme !== 'processor' && !standardKey(secret))
    context.note('the secret is not whsec_ and base64, so it has no Standard Webhooks signature');
  return {
    ok: true,
    data: { timestamp, bytes: body.length, headers },
    env: headers,
    text: () =>
      Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n'),
  };
};

function standardHeaders({
  secret,
  id,
  timestamp,
  body,
}: {
  secret: string;
  id: string;
  timestamp: number;
  body: Uint8Array;
}): Record<string, string> {
  const key = standardKey(secret);
  if (!key) return {};
  const signature = hmac(key, `${id}.${timestamp}.`, body).toString('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${signature}` };
}

/** The body's own id, or one made from its bytes, so that the same body gets the same. */
function idOf(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body) && typeof body.id === 'string' && /^[\w-]+$/.test(body.id)) return body.id;
  } catch {
    // Any text can be signed.
  }
  return `msg_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
}

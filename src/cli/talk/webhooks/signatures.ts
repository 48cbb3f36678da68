/** `rewards webhooks sign`: every header that a signed body has. */
import { createHash } from 'node:crypto';
import { signedHeaders } from '../../../webhooks/sign.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { readBytes, utf8Of } from '../../machine/read-input.ts';
import { isObject } from '../../service/assignments.ts';
import { signingFrom } from '../../webhooks/signatures/secret.ts';
import { standardKey } from './schemes.ts';

interface SignOptions {
  file: string;
  secret?: string;
  timestamp?: number;
  id?: string;
  scheme?: 'processor' | 'service';
}

export const signBody: Handler<SignOptions> = async (context, { file, secret: given, ...options }) => {
  const { secret, nowMs } = await signingFrom(context, given);
  const body = await readBytes(context.runtime, file);
  const text = utf8Of(body, file);
  const timestamp = options.timestamp ?? Math.floor(nowMs / 1_000);
  const ours = options.scheme !== 'processor' && isServiceSecret(context, secret);
  const headers: Record<string, string> = {
    ...(options.scheme !== 'service' && (await processorHeaders({ text, secret, timestamp }))),
    ...(ours && signedHeaders({ secret, id: options.id ?? idOf(text), timestampSeconds: timestamp, body })),
  };
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

async function processorHeaders({
  text,
  secret,
  timestamp,
}: {
  text: string;
  secret: string;
  timestamp: number;
}): Promise<Record<string, string>> {
  const { default: Stripe } = await import('stripe');
  return {
    'Stripe-Signature': Stripe.webhooks.generateTestHeaderString({ payload: text, secret, timestamp }),
  };
}

/** Whether this service could have made the secret: `whsec_` and base64. */
function isServiceSecret({ note }: CommandContext, secret: string): boolean {
  const isOurs = secret.startsWith('whsec_') && standardKey(secret) !== undefined;
  if (!isOurs) note('the secret is not whsec_ and base64, so this service has no signatures for it');
  return isOurs;
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

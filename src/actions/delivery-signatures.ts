/** Takes the signatures of a delivery apart: what is signed, under which key, and what a verifier sees. Secrets stay here. */
import { type Database, readTime } from '../ledger/database/database.ts';
import { type ShownEvent, showEvent } from '../ledger/webhooks/delivery-log.ts';
import { listEndpoints, type WebhookEndpoint } from '../ledger/webhooks/endpoints.ts';
import { explainSignature, type Verdict } from '../webhooks/explain-signature.ts';
import { prefixOf, readSignature, type Scheme, schemeOfHeader } from '../webhooks/schemes.ts';
import { signedHeaders, TOLERANCE_SECONDS } from '../webhooks/signatures.ts';

/** One header, as a receiver should understand it. */
interface TakenApart {
  header: string;
  scheme: Scheme;
  value: string;
  /** What the scheme makes its key from. */
  key: 'the text of the secret' | 'the base64 after whsec_';
  /** What stands before the body in what is signed. */
  prefix: string;
  verdict: Pick<Verdict, 'verifies' | 'failed' | 'ageSeconds'>;
}

export interface DeliverySignature {
  endpointId: string;
  url: string;
  signedAtMs: number;
  /** Of the latest attempt; false: of one that would begin now, since none has been made. */
  isOfAttempt: boolean;
  /** The previous secret signs beside the present one. */
  rotates: boolean;
  headers: Record<string, string>;
  signatures: TakenApart[];
}

type Shown = ShownEvent['deliveries'][number];

/**
 * The signatures that an event has at each endpoint, under the secrets that the endpoint has now, and what a verifier
 * with the right secret sees at `atMs`; by default at the time of the database. Undefined without such an event.
 */
export async function explainDelivery(
  { database }: { database: Database },
  { eventId, atMs }: { eventId: string; atMs: number | undefined },
): Promise<
  { body: string; atMs: number; toleranceSeconds: number; endpoints: DeliverySignature[] } | undefined
> {
  const { db } = database;
  const event = await showEvent(db, eventId);
  if (!event) return undefined;
  const [first] = event.deliveries;
  const endpoints = first ? await listEndpoints(db, first.brandId) : [];
  const nowMs = await readTime({ db, now: database.now });
  const at = atMs ?? nowMs;
  return {
    body: event.body,
    atMs: at,
    toleranceSeconds: TOLERANCE_SECONDS,
    endpoints: event.deliveries.flatMap((delivery) => {
      const endpoint = endpoints.find(({ id }) => id === delivery.endpointId);
      return endpoint ? [signatureOf(endpoint, { delivery, body: event.body, nowMs, atMs: at })] : [];
    }),
  };
}

function signatureOf(
  { id, url, secret, previousSecret, previousSecretUntil }: WebhookEndpoint,
  { delivery, body: text, nowMs, atMs }: { delivery: Shown; body: string; nowMs: number; atMs: number },
): DeliverySignature {
  const attempted = delivery.log.at(-1)?.signedAt ?? null;
  const signedAtMs = attempted ?? nowMs;
  const rotates = previousSecret !== null && (previousSecretUntil ?? 0) > nowMs;
  const body = Buffer.from(text);
  const timestampSeconds = Math.floor(signedAtMs / 1_000);
  const headers = signedHeaders({
    secret,
    ...(rotates && { previousSecret }),
    id: delivery.eventId,
    timestampSeconds,
    body,
  });
  const signatures = Object.entries(headers).flatMap(([header, value]): TakenApart[] => {
    const scheme = schemeOfHeader[header.toLowerCase()];
    if (scheme === undefined) return [];
    const { 'webhook-id': messageId, 'webhook-timestamp': timestamp } = headers;
    const read = readSignature(scheme, value);
    const given = {
      ...read,
      header,
      ...(scheme === 'standard-webhooks' && { id: messageId, timestamp }),
    };
    // The bare header stays that of the previous secret during a rotation.
    const own = rotates && header === 'X-Service-Signature' ? previousSecret : secret;
    const received = {
      secret: own,
      body,
      text,
      atSeconds: Math.floor(atMs / 1_000),
      toleranceSeconds: TOLERANCE_SECONDS,
    };
    const { verifies, failed, ageSeconds } = explainSignature(given, received);
    const key = scheme === 'standard-webhooks' ? 'the base64 after whsec_' : 'the text of the secret';
    const verdict = { verifies, failed, ageSeconds };
    return [{ header, scheme, value, key, prefix: prefixOf(given), verdict }];
  });
  return { endpointId: id, url, signedAtMs, isOfAttempt: attempted !== null, rotates, headers, signatures };
}

/** The forms of a webhook's signature: what is signed, with which key, and in which header it stands. */
import { createHmac } from 'node:crypto';

export type Scheme = 'processor' | 'service' | 'service-timestamped' | 'standard-webhooks';

/** The headers in which signatures stand, in small letters; `-next` is that of a new secret while the old one is valid. */
export const schemeOfHeader: Record<string, Scheme> = {
  'stripe-signature': 'processor',
  'x-service-signature': 'service',
  'x-service-signature-next': 'service',
  'x-service-signature-timestamped': 'service-timestamped',
  'webhook-signature': 'standard-webhooks',
};
const headerOf = (scheme: Scheme) =>
  Object.keys(schemeOfHeader).find((header) => schemeOfHeader[header] === scheme) ?? '';

/** A signature as it came. */
export interface Given {
  scheme: Scheme;
  /** The header that it came in. */
  header: string;
  /** Its value. */
  value: string;
  /** Every digest in it that is of the right form. */
  digests: Buffer[];
  /** As written; undefined when the header has none. */
  timestamp?: string | undefined;
  /** Standard Webhooks: the message's id. */
  id?: string | undefined;
}

/** The key of Standard Webhooks: the base64 after `whsec_`; undefined when the secret is of another form. */
export function standardKey(secret: string): Buffer | undefined {
  const encoded = secret.replace(/^whsec_/, '');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.length % 4 === 0
    ? Buffer.from(encoded, 'base64')
    : undefined;
}

export const hmac = (key: string | Buffer, ...parts: (string | Uint8Array)[]): Buffer => {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
};

/** What stands before the body in what is signed. */
export function prefixOf({ scheme, timestamp, id }: Pick<Given, 'scheme' | 'timestamp' | 'id'>): string {
  if (scheme === 'service') return '';
  return scheme === 'standard-webhooks' ? `${id}.${timestamp}.` : `${timestamp}.`;
}

/** The key that a scheme makes of a secret; undefined when the secret has not the scheme's form. */
export const keyOf = (scheme: Scheme, secret: string): string | Buffer | undefined =>
  scheme === 'standard-webhooks' ? standardKey(secret) : secret;

/** Reads the value of a scheme's header, as strictly as the libraries that verify it. */
export function readSignature(scheme: Scheme, value: string): Given {
  const header = headerOf(scheme);
  if (scheme === 'service') return { scheme, header, value, digests: hexDigests([value]) };
  if (scheme === 'standard-webhooks') {
    const digests = value
      .split(' ')
      .filter((one) => /^v1,[A-Za-z0-9+/]{43}=$/.test(one))
      .map((one) => Buffer.from(one.slice(3), 'base64'));
    return { scheme, header, value, digests };
  }
  const fields = value.split(',').map((field) => field.split('='));
  const valuesOf = (name: string) => fields.flatMap(([key, text = '']) => (key === name ? [text] : []));
  return { scheme, header, value, digests: hexDigests(valuesOf('v1')), timestamp: valuesOf('t').at(-1) };
}

const hexDigests = (texts: string[]) =>
  texts.filter((text) => /^[0-9a-f]{64}$/.test(text)).map((text) => Buffer.from(text, 'hex'));

/** Signatures, as other people's libraries and a receiver of ten lines check them. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { createWebhookSecret, signedHeaders } from '../../src/webhooks/signatures.ts';

const random = (fill: number) => ({ bytes: (count: number) => new Uint8Array(count).fill(fill) });
const [secret, next, stranger] = [1, 2, 3].map((fill) => createWebhookSecret(random(fill))) as [
  string,
  string,
  string,
];
const nowSeconds = () => Math.floor(Date.now() / 1000);
const bytes = (text: string) => new TextEncoder().encode(text);
const text = '{"id":"evt_1","type":"reward.distributed","data":{"text":"Grüße 🎉 \\u0000"}}';

type Headers = Record<string, string>;
/** What a brand's server does with the simplest header. */
function verifiesHex(key: string, headers: Headers, body: Uint8Array): boolean {
  const expected = Buffer.from(createHmac('sha256', key).update(body).digest('hex'));
  const given = Buffer.from(headers['X-Service-Signature'] ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
const passes = (check: () => unknown): boolean => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};
const verifiesStripe = (key: string, headers: Headers, body: Uint8Array): boolean =>
  passes(() =>
    Stripe.webhooks.constructEvent(Buffer.from(body), headers['X-Service-Signature-Timestamped'] ?? '', key),
  );
const verifiesStandard = (key: string, headers: Headers, body: Uint8Array): boolean =>
  passes(() => new Webhook(key).verify(Buffer.from(body), headers));
const verifiers = { hex: verifiesHex, stripe: verifiesStripe, standardwebhooks: verifiesStandard };

const signed = (more: Partial<Parameters<typeof signedHeaders>[0]> = {}): Headers =>
  signedHeaders({ secret, id: 'evt_1', timestampSeconds: nowSeconds(), body: bytes(text), ...more });

test('a secret is whsec_ and the base64 of 32 bytes of the randomness that is passed in', () => {
  expect(createWebhookSecret(random(0xff))).toBe(`whsec_${'/'.repeat(42)}8=`);
});

describe.each(Object.entries(verifiers))('%s', (form, verifies) => {
  test('accepts what was signed', () => {
    expect(verifies(secret, signed(), bytes(text))).toBe(true);
  });

  test('refuses another secret', () => {
    expect(verifies(stranger, signed(), bytes(text))).toBe(false);
  });

  test('refuses a body with any byte flipped, added or gone', () => {
    const headers = signed();
    const body = bytes(text);
    const flipped = [...body.keys()].map((at) => body.map((byte, place) => (place === at ? byte ^ 1 : byte)));
    const others = [...flipped, body.subarray(1), body.subarray(0, -1), bytes(`${text} `), bytes('')];
    expect(others.filter((other) => verifies(secret, headers, other))).toEqual([]);
  });

  test('refuses a header with any character changed', () => {
    const name = { hex: 'X-Service-Signature', stripe: 'X-Service-Signature-Timestamped' }[form];
    const changed = name ?? 'webhook-signature';
    const headers = signed();
    const value = headers[changed] ?? '';
    const others = [...value].map(
      (char, at) => value.slice(0, at) + (char === 'A' ? 'B' : 'A') + value.slice(at + 1),
    );
    // The last digit of base64 has bits that mean nothing, and is compared all the same.
    expect(others.filter((other) => verifies(secret, { ...headers, [changed]: other }, bytes(text)))).toEqual(
      [],
    );
  });
});

describe('while a secret is replaced', () => {
  const headers = signed({ secret: next, previousSecret: secret });

  test.each(['stripe', 'standardwebhooks'] as const)('%s accepts either secret and no third', (form) => {
    const accepted = [secret, next, stranger].map((key) => verifiers[form](key, headers, bytes(text)));
    expect(accepted).toEqual([true, true, false]);
  });

  test('the bare header stays that of the previous one, and the new one has a header of its own', () => {
    expect(verifiesHex(secret, headers, bytes(text))).toBe(true);
    const [bare, following] = [headers['X-Service-Signature'], headers['X-Service-Signature-Next']];
    expect(verifiesHex(next, { 'X-Service-Signature': following ?? '' }, bytes(text))).toBe(true);
    expect(bare).not.toBe(following);
  });

  test('afterwards the bare header is that of the new one, alone', () => {
    const after = signed({ secret: next });
    expect(verifiesHex(next, after, bytes(text))).toBe(true);
    expect(Object.keys(after)).not.toContain('X-Service-Signature-Next');
    expect([secret, next].map((key) => verifiesStandard(key, after, bytes(text)))).toEqual([false, true]);
    expect([secret, next].map((key) => verifiesStripe(key, after, bytes(text)))).toEqual([false, true]);
  });
});

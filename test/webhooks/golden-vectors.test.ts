/** Twenty signed webhooks, written down by another program: ours are the same, and three verifiers agree on them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { signedHeaders, verifyWebhook } from '../../src/webhooks/signatures.ts';

interface Vector {
  name: string;
  secret: string;
  previousSecret?: string;
  id: string;
  timestampSeconds: number;
  body: string;
  headers: Record<string, string>;
  /** When it is verified, and what comes of it. */
  nowSeconds: number;
  verdict: 'valid' | 'too old' | 'too new';
}

const vectors: Vector[] = JSON.parse(readFileSync(join(import.meta.dirname, 'golden-vectors.json'), 'utf8'));
const bytes = (text: string) => new TextEncoder().encode(text);
const lowerCase = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
const passes = (check: () => unknown) => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};

afterEach(() => void vi.useRealTimers());

test('there are twenty', () => expect(vectors).toHaveLength(20));

describe.each(vectors)('$name', ({ headers, verdict, nowSeconds, name: _, ...signed }) => {
  const body = bytes(signed.body);
  const secrets = [signed.secret, ...(signed.previousSecret ? [signed.previousSecret] : [])];

  test('is signed by us in the same way', () => {
    expect(signedHeaders({ ...signed, body })).toEqual(headers);
  });

  test('is judged by the inbox', () => {
    const judged = secrets.map((secret) =>
      verifyWebhook({ secret, headers: lowerCase(headers), body, nowSeconds }),
    );
    const expected = { valid: verdict === 'valid', bare: 'valid', timestamped: verdict, standard: verdict };
    expect(judged).toEqual(secrets.map(() => expected));
  });

  test('is judged by standardwebhooks', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: nowSeconds * 1_000 });
    const verified = secrets.map((secret) =>
      passes(() => new Webhook(secret).verify(Buffer.from(body), headers, { jsonParse: false })),
    );
    expect(verified).toEqual(secrets.map(() => verdict === 'valid'));
  });

  test('is judged by stripe, which looks for old ones only', () => {
    const header = headers['X-Service-Signature-Timestamped'] ?? '';
    const verified = secrets.map((secret) =>
      passes(() =>
        Stripe.webhooks.signature?.verifyHeader(
          signed.body,
          header,
          secret,
          300,
          undefined,
          nowSeconds * 1_000,
        ),
      ),
    );
    // It takes an empty body for a forgotten one.
    expect(verified).toEqual(secrets.map(() => verdict !== 'too old' && signed.body !== ''));
  });
});

describe('the inbox sees', () => {
  const [vector] = vectors as [Vector];
  const { secret, nowSeconds, timestampSeconds, id } = vector;
  const body = bytes(vector.body);
  const headers = lowerCase(vector.headers);
  const judge = (more: Partial<Parameters<typeof verifyWebhook>[0]>) =>
    verifyWebhook({ secret, headers, body, nowSeconds, ...more });

  test('which form is absent', () => {
    expect(judge({ headers: {} })).toEqual({
      valid: false,
      bare: 'absent',
      timestamped: 'absent',
      standard: 'absent',
    });
  });

  test.each([
    ['x-service-signature', 'bare'],
    ['x-service-signature-timestamped', 'timestamped'],
    ['webhook-signature', 'standard'],
    ['webhook-id', 'standard'],
    ['webhook-timestamp', 'standard'],
  ] as const)('a changed %s', (name, form) => {
    const value = headers[name] ?? '';
    const verdicts = [...value].map((char, at) => {
      const other = value.slice(0, at) + (char === '7' ? '8' : '7') + value.slice(at + 1);
      return judge({ headers: { ...headers, [name]: other } });
    });
    expect(verdicts.filter((verdict) => verdict.valid || verdict[form] === 'valid')).toEqual([]);
  });

  test('another body, in every form', () => {
    expect(judge({ body: bytes(`${vector.body} `) })).toEqual({
      valid: false,
      bare: 'wrong',
      timestamped: 'wrong',
      standard: 'wrong',
    });
  });

  test('the right one among signatures of other versions', () => {
    const more = {
      ...headers,
      'webhook-signature': `v1a,xyz v1,AAAA ${headers['webhook-signature']}`,
      'x-service-signature-timestamped': `${headers['x-service-signature-timestamped']},v0=00,v1=00`,
    };
    expect(judge({ headers: more }).valid).toBe(true);
  });

  test('a signature of another version as none of ours', () => {
    const digest = headers['webhook-signature']?.slice('v1,'.length);
    const hex = headers['x-service-signature-timestamped']?.split('v1=')[1];
    const other = {
      ...headers,
      'webhook-signature': `v2,${digest}`,
      'x-service-signature-timestamped': `t=${timestampSeconds},v0=${hex}`,
    };
    expect(judge({ headers: other })).toMatchObject({ timestamped: 'wrong', standard: 'wrong' });
  });

  test.each(['', 'soon', '-1', '1e9', '1767614400.5', '99999999999999999999'])(
    'the timestamp %j as wrong',
    (at) => {
      const changed = { ...headers, 'webhook-id': id, 'webhook-timestamp': at };
      expect(judge({ headers: changed }).standard).toBe('wrong');
    },
  );
});

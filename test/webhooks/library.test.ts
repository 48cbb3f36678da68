/** The package's export `rewards/webhooks`: what a receiver is given, and what it is told of all else. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import type { WebhookFacts, WebhookType } from '../../src/rules/webhook-body.ts';
import { verifyWebhook, WebhookError } from '../../src/webhooks/library.ts';
import type * as published from '../../src/webhooks/library-types.ts';
import { createWebhookSecret, signedHeaders } from '../../src/webhooks/signatures.ts';
import { startReceiver } from '../kits/network/receivers.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';
import { browserMissing, startBrowser, startPages } from '../kits/site/browser.ts';

// Compile only while the source keeps to the package's declaration, and that to what is sent.
const verify: typeof published.verifyWebhook = verifyWebhook;
const Refusal: typeof published.WebhookError = WebhookError;
type Data<Type> = Extract<published.WebhookEvent, { type: Type }>['data'];
expectTypeOf<published.WebhookEvent['type']>().toEqualTypeOf<WebhookType>();
expectTypeOf<WebhookFacts['perk.redeemed']>().toExtend<Data<'perk.redeemed'>>();
expectTypeOf<WebhookFacts['streak.milestone']>().toExtend<Data<'streak.milestone'>>();
expectTypeOf<WebhookFacts['achievement.unlocked']>().toExtend<Data<'achievement.unlocked'>>();
expectTypeOf<WebhookFacts['payment.minted']>().toExtend<Data<'payment.minted'>>();

const [secret, next, stranger] = [1, 2, 3].map((fill) =>
  createWebhookSecret({ bytes: (count) => new Uint8Array(count).fill(fill) }),
) as [string, string, string];
const AT_SECONDS = 1_900_000_000;
const body = JSON.stringify({
  id: 'evt_1',
  type: 'perk.redeemed',
  created: 1,
  data: { perkName: 'Grüße 🎉' },
});

function sent(
  of: { secret: string; previousSecret?: string } = { secret },
  change: (headers: Record<string, string>) => Record<string, string | undefined> = (headers) => headers,
) {
  const signed = signedHeaders({ ...of, id: 'evt_1', timestampSeconds: AT_SECONDS, body: Buffer.from(body) });
  return { body, secret, headers: change(signed), now: () => AT_SECONDS * 1_000 };
}
const reasonOf = (received: published.ReceivedWebhook) =>
  verify(received).then(
    ({ id }) => id,
    (error: unknown) => {
      if (error instanceof Refusal) return error.reason;
      throw error;
    },
  );

describe('is given the event', () => {
  test.each<[what: string, received: published.ReceivedWebhook]>([
    ['by headers of node:http, in any case', sent()],
    [
      'by headers of fetch',
      { ...sent(), headers: new Headers(Object.entries(sent().headers) as [string, string][]) },
    ],
    ['by its bytes', { ...sent(), body: Buffer.from(body) }],
    ['while its secret is replaced: by the present one', sent({ secret: next, previousSecret: secret })],
    [
      'while its secret is replaced: by the next one',
      { ...sent({ secret: next, previousSecret: stranger }), secret: next },
    ],
    ['by one of its secrets', { ...sent({ secret: next }), secret: [secret, next] }],
    ['five minutes later', { ...sent(), now: () => (AT_SECONDS + 300) * 1_000 }],
    [
      'later, where that is allowed',
      { ...sent(), now: () => (AT_SECONDS + 3_600) * 1_000, toleranceSeconds: 3_600 },
    ],
  ])('%s', async (_, received) => expect(await verify(received)).toEqual(JSON.parse(body)));
});

describe('is told why not', () => {
  const without = (name: string) => (headers: Record<string, string>) => ({ ...headers, [name]: undefined });
  test.each<[published.WebhookProblem, what: string, received: published.ReceivedWebhook]>([
    ['signature_wrong', 'another endpoint’s secret', { ...sent(), secret: stranger }],
    ['signature_wrong', 'another body', { ...sent(), body: body.replace('Grüße', 'Gruesse') }],
    [
      'signature_wrong',
      'a body that was parsed and written again',
      { ...sent(), body: JSON.stringify(JSON.parse(body), null, 1) },
    ],
    [
      'signature_wrong',
      'another time',
      sent({ secret }, (all) => ({ ...all, 'webhook-timestamp': String(AT_SECONDS + 1) })),
    ],
    ['signature_wrong', 'another id', sent({ secret }, (all) => ({ ...all, 'webhook-id': 'evt_2' }))],
    [
      'signature_wrong',
      'no signature of the known form',
      sent({ secret }, (all) => ({ ...all, 'webhook-signature': 'v2,AAAA v1,é' })),
    ],
    ['signature_missing', 'no id', sent({ secret }, without('webhook-id'))],
    ['signature_missing', 'no time', sent({ secret }, without('webhook-timestamp'))],
    ['signature_missing', 'no signature', sent({ secret }, without('webhook-signature'))],
    [
      'signature_missing',
      'a header that is there twice',
      { ...sent(), headers: { ...sent().headers, 'webhook-id': ['a', 'b'] } },
    ],
    ['too_old', 'a kept one', { ...sent(), now: () => (AT_SECONDS + 301) * 1_000 }],
    ['too_new', 'one of a clock ahead', { ...sent(), now: () => (AT_SECONDS - 301) * 1_000 }],
    ['secret_malformed', 'no base64', { ...sent(), secret: 'whsec_ü' }],
    ['secret_malformed', 'no secret', { ...sent(), secret: '' }],
    ['signature_wrong', 'no secrets', { ...sent(), secret: [] }],
  ])('%s: %s', async (reason, _, received) => expect(await reasonOf(received)).toBe(reason));

  test('a signed body that is no event', async () => {
    for (const text of ['[]', 'null', '{"id":1}', 'hello']) {
      const bytes = Buffer.from(text);
      const headers = signedHeaders({ secret, id: 'evt_1', timestampSeconds: AT_SECONDS, body: bytes });
      expect([text, await reasonOf({ ...sent(), body: bytes, headers })]).toEqual([text, 'body_malformed']);
    }
  });
});

describe('beside a stack', () => {
  let service: TestService;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let own = '';
  beforeAll(async () => {
    [service, receiver] = await Promise.all([startTestService(), startReceiver()]);
    const url = `http://127.0.0.1:${receiver.port}/`;
    const { body: made } = await service.control('/webhooks/endpoints', {
      brand: service.brand.brandId,
      url,
    });
    own = made.secret;
  });
  afterAll(() => Promise.all([service?.stop(), receiver?.stop()]));

  test('a receiver is given what was paid', async () => {
    const userEmail = someone();
    const { body: answer } = await service.event({ userEmail });
    await service.atRest();
    const [received] = receiver.received;
    if (!received) throw new Error('nothing came');
    const event = await verify({ ...received, secret: own });
    if (event.type !== 'reward.distributed') throw new Error(`${event.type} was told`);
    expect(event.data).toMatchObject({
      userEmail,
      amount: answer.rewardAmount,
      eventType: 'account_creation',
    });
    expect([event.rwtAmount, event.brandId]).toEqual([answer.rewardAmount, service.brand.brandId]);
  });
});

test.skipIf(browserMissing())('what is in the package runs in a browser as it is', async () => {
  const library = await readFile(new URL('../../dist/webhooks.js', import.meta.url), 'utf8');
  expect(library).not.toMatch(/\bimport\b|\brequire\b/);
  const browser = await startBrowser({ hosts: [] });
  // Web Crypto is there in secure contexts alone, of which this machine's own address is one.
  const pages = await startPages(() => ({ html: '<p>' }));
  try {
    const { context } = await browser.visitor();
    const page = await context.newPage();
    await page.goto(pages.at('127.0.0.1', '/'));
    const { now: _, ...received } = sent();
    const said = await page.evaluate(`(async () => {
      const url = URL.createObjectURL(new Blob([${JSON.stringify(library)}], { type: 'text/javascript' }));
      const { verifyWebhook } = await import(url);
      const received = ${JSON.stringify(received)};
      const now = () => ${AT_SECONDS * 1_000};
      const good = await verifyWebhook({ ...received, now });
      const bad = await verifyWebhook({ ...received, now, body: '{}' }).catch((error) => error.reason);
      return [good.id, bad];
    })()`);
    expect(said).toEqual(['evt_1', 'signature_wrong']);
  } finally {
    await Promise.all([browser.stop(), pages.stop()]);
  }
});

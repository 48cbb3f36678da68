/** Contract: Errors: each status code with each of its causes, and the shape of every body. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, someone } from '../../kits/service/service.ts';
import {
  API,
  type ContractService,
  expectBothForms,
  paused,
  poor,
  shop,
  startContractService,
} from '../kit.ts';

describe('contract: Errors', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await startContractService();
  });
  afterAll(() => service?.stop());

  const padded = (bytes: number) => {
    const body = JSON.stringify({
      brandId: shop.brandId,
      domain: shop.domain,
      eventType: 'once',
      userEmail: someone(),
      metadata: { note: '' },
    });
    return body.replace('"note":""', `"note":"${'x'.repeat(bytes - body.length)}"`);
  };
  const manual = (body: unknown, headers?: Record<string, string>) =>
    service.post(`${API}/manual-event`, body, headers);
  /** Sends the same event once before, and lets time pass. */
  const later = async (wait: string, eventType = 'once') => {
    const userEmail = someone();
    await service.send(shop, { userEmail, eventType });
    await service.advance(wait);
    return service.send(shop, { userEmail, eventType });
  };

  const rows: [string, number, string, () => Promise<Answer>][] = [
    ['missing fields', 400, 'Invalid event data', () => manual({})],
    ['invalid format', 400, 'Invalid event data', () => manual('{"brandId"')],
    ['no body', 400, 'Invalid event data', () => manual('')],
    ['a list', 400, 'Invalid event data', () => manual([])],
    [
      'compressed',
      415,
      'Unsupported content encoding',
      () => manual(padded(200), { 'content-encoding': 'gzip' }),
    ],
    ['invalid e-mail', 400, 'Invalid event data', () => service.send(shop, { userEmail: 'x' })],
    ['invalid brandId', 400, 'Invalid event data', () => service.send({ ...shop, brandId: '0x1' }, {})],
    [
      'unknown brand',
      400,
      `Brand not found: 0x${'9'.repeat(40)}`,
      () => service.send({ ...shop, brandId: `0x${'9'.repeat(40)}` }, { userEmail: someone() }),
    ],
    [
      'unknown event',
      400,
      'Event not found: nothing_such',
      () => service.send(shop, { userEmail: someone(), eventType: 'nothing_such' }),
    ],
    [
      'domain not authorized',
      403,
      `Domain evil.example is not authorized for brand ${shop.brandId}, which is configured for shop.example, www.second.example, xn--bcher-kva.example`,
      () => service.send(shop, { userEmail: someone(), domain: 'evil.example' }),
    ],
    [
      'automation disabled',
      403,
      `Automation is disabled for brand ${paused.brandId}`,
      () => service.send(paused, { userEmail: someone() }),
    ],
    [
      'channel not allowed',
      403,
      'Channel random is not allowed for this event; allowed: #support, announcements',
      () => service.send(shop, { userEmail: someone(), eventType: 'custom_chat', channel_id: 'random' }),
    ],
    ['unknown endpoint', 404, 'Not found', () => service.post(`${API}/no-such-thing`, {})],
    ['duplicate event in flight', 409, 'This event is already being processed', () => later('1s')],
    ['body over 10KB', 413, 'Payload too large', () => manual(padded(10_241))],
    ['cooldown not expired', 429, 'Cooldown active', () => later('61s')],
    ['max claims reached', 429, 'Max claims reached', () => later('24h')],
    [
      'brand without funds',
      500,
      'Insufficient brand balance',
      () => service.send(poor, { userEmail: someone(), eventType: 'dear' }),
    ],
  ];
  test.each(rows)('contract: Errors, %s: %i %s', async (_, status, error, ask) => {
    const answer = await ask();
    expect([answer.status, answer.body.error]).toEqual([status, error]);
    expectBothForms(answer);
  });

  test('contract: Limits, Request body: exactly 10,240 bytes are taken', async () => {
    expect((await manual(padded(10_240))).status).toBe(200);
    const chunked = (bytes: number) =>
      service.request(`${API}/manual-event`, {
        method: 'POST',
        body: new Blob([padded(bytes)]).stream(),
        duplex: 'half',
      } as RequestInit);
    expect((await chunked(10_240)).status).toBe(200);
    expect((await chunked(10_241)).status).toBe(413);
    for (const path of ['bulk-events', 'user-balance', 'verify-dns']) {
      const answer = await service.post(`${API}/${path}`, padded(10_241));
      expect([path, answer.status]).toEqual([path, 413]);
      expectBothForms(answer);
    }
  });

  test('contract: Errors, Domain not authorized: details', async () => {
    const { body } = await service.send(shop, { userEmail: someone(), domain: 'evil.example' });
    expect(body.details).toMatchObject({
      reason: 'domain_not_authorized',
      domain: 'evil.example',
      brandId: shop.brandId,
      configuredDomain: 'shop.example',
    });
  });

  test('contract: Errors, Invalid data: details has the list of messages, prefixed with their field', async () => {
    const { body } = await manual({ brandId: shop.brandId });
    expect(body.details.errors).toEqual([
      expect.stringMatching(/^eventType: /),
      ...(body.details.errors.length > 1 ? [expect.stringMatching(/^userEmail: /)] : []),
    ]);
  });

  test('contract: Errors, Duplicate: details.existingEventId', async () => {
    const userEmail = someone();
    const first = await service.send(shop, { userEmail });
    const { body } = await service.send(shop, { userEmail });
    expect(body.details.existingEventId).toBe(first.body.eventId);
  });

  test('contract: Errors, Cooldown: details', async () => {
    const { body } = await later('61s');
    expect(body.details).toMatchObject({
      message: expect.stringMatching(/./),
      reason: 'cooldown',
      cooldownSeconds: 86_400,
      previousReward: {
        eventId: expect.stringMatching(/-/),
        rewardAmount: 10,
        timestamp: expect.stringMatching(/Z$/),
      },
    });
  });

  test('contract: Errors, Max claims: details', async () => {
    const { body } = await later('24h');
    expect(body.details).toEqual({
      message: expect.stringMatching(/./),
      reason: 'max_claims_reached',
      totalClaims: 1,
      maxClaims: 1,
      retryable: false,
    });
  });

  test('the channels that are allowed are listed', async () => {
    const fields = { userEmail: someone(), eventType: 'custom_chat', metadata: { channel_id: 'random' } };
    const { body } = await service.send(shop, fields);
    expect(body.details).toMatchObject({ channel: 'random', allowedChannels: ['#support', 'announcements'] });
  });
});

/** Order of checks: each event is wrong in this and in every later way. */
describe('the first reason is told', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await startContractService();
  });
  afterAll(() => service?.stop());

  test('fields, brand, automation, domain, event, channel, duplicate', async () => {
    const evil = { userEmail: 'x', domain: 'evil.example', eventType: 'nothing_such', channel_id: 'random' };
    const unknown = { ...shop, brandId: `0x${'9'.repeat(40)}` };
    const userEmail = someone();
    await service.send(shop, { userEmail, eventType: 'custom_chat' });
    const answers = [
      await service.send(unknown, evil),
      await service.send(unknown, { ...evil, userEmail }),
      await service.send(paused, { ...evil, userEmail }),
      await service.send(shop, { ...evil, userEmail }),
      await service.send(shop, { ...evil, userEmail, domain: shop.domain }),
      await service.send(shop, { ...evil, userEmail, domain: shop.domain, eventType: 'custom_chat' }),
      await service.send(shop, { userEmail, eventType: 'custom_chat' }),
    ];
    expect(answers.map(({ body }) => body.error.split(/[ :]/, 2).join(' '))).toEqual([
      'Invalid event',
      'Brand not',
      'Automation is',
      'Domain evil.example',
      'Event not',
      'Channel random',
      'This event',
    ]);
  });
});

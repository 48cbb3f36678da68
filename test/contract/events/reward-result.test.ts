/** Contract: Reward result, Event types and Event configuration. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventConfigReply } from '../../../src/http/events/event-config.ts';
import { type Answer, someone, startTestService, type TestService } from '../../kits/service/service.ts';
import { API, type ContractService, open, shop, startContractService } from '../kit.ts';

describe('contract: Reward result', () => {
  let service: ContractService;
  let body: Answer['body'];
  beforeAll(async () => {
    service = await startContractService();
    const answer = await service.send(shop, { userEmail: someone() });
    expect(answer.status).toBe(200);
    body = answer.body;
  });
  afterAll(() => service?.stop());

  test.each<[string, unknown]>([
    ['success', true],
    ['eventId', expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)],
    ['message', expect.stringMatching(/./)],
    ['rewardAmount', 10],
    ['eventType', 'once'],
    ['walletCreated', true],
    ['walletAddress', expect.stringMatching(/^0x[0-9a-fA-F]{40}$/)],
    ['transactionHash', expect.stringMatching(/^0x[0-9a-f]{64}$/)],
    ['rwtDistributed', 10],
    ['status', 'rewarded'],
    ['brandId', shop.brandId],
  ])('contract: Reward result, %s', (field, value) => {
    expect(body[field]).toEqual(value);
  });

  test('contract: Reward result, reward: the same grouped', () => {
    const { eventType, walletAddress, transactionHash } = body;
    expect(body.reward).toEqual({ amount: 10, eventType, walletAddress, transactionHash });
  });

  test('the transaction is on chain and pays the wallet', async () => {
    const receipt = await service.chain.getTransactionReceipt({ hash: body.transactionHash });
    expect(receipt.status).toBe('success');
    expect(await service.balanceOf(body.walletAddress)).toBe(10n);
  });
});

/** Contract: Event types, both lists; of a range, the lower end. */
const eventTypes: [string, number][] = [
  ['account_creation', 100],
  ['complete_survey', 75],
  ['newsletter_subscribe', 25],
  ['rate_experience', 50],
  ['subscribe_renewal', 200],
  ['form_submit', 10],
  ['email_verification', 50],
  ['first_purchase', 200],
  ['purchase', 1],
  ['referral', 500],
  ['review_submission', 50],
  ['newsletter_signup', 25],
  ['profile_completion', 100],
];

describe('contract: Event types, as the demo brand has them', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service?.stop());

  test.each(eventTypes)('contract: Event types, %s pays %i RWT', async (eventType, amount) => {
    // The demo pays a purchase once for each order.
    const metadata = eventType === 'purchase' ? { order_id: 'A-1' } : undefined;
    const { status, body } = await service.event({ userEmail: someone(), eventType, metadata });
    expect([status, body.rewardAmount, body.eventType]).toEqual([200, amount, eventType]);
  });

  test('contract: Event types, purchase: per USD', async () => {
    const metadata = { order_id: 'A-1', order_total: 129.95 };
    const { body } = await service.event({ userEmail: someone(), eventType: 'purchase', metadata });
    expect(body.rewardAmount).toBe(129);
    expect(await service.balanceOf(body.walletAddress)).toBe(129n);
  });

  test('contract: Event types, custom ones start with custom_', async () => {
    const { body } = await service.event({ userEmail: someone(), eventType: 'custom_support_answer' });
    expect(body.rewardAmount).toBe(20);
    const unknown = await service.event({ userEmail: someone(), eventType: 'custom_unknown' });
    expect([unknown.status, unknown.body.error]).toEqual([400, 'Event not found: custom_unknown']);
  });
});

describe('contract: GET event-config', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await startContractService();
  });
  afterAll(() => service?.stop());
  const config = (brandId: string, headers: Record<string, string> = {}) =>
    service.request(`${API}/event-config?brandId=${brandId}`, { headers });

  test('contract: GET event-config, 200 body', async () => {
    const { status, body } = await config(shop.brandId);
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, brandId: shop.brandId, events: expect.any(Array) });
    expect(body.count).toBe(body.events.length);
    const types = body.events.map(({ eventType }: { eventType: string }) => eventType);
    expect(types).toContain('once');
    expect(types).not.toContain('asleep');
  });

  const watched = {
    eventId: 'watched',
    eventType: 'watched',
    rewardAmount: 15,
    maxClaims: 3,
    cooldownHours: 36,
    detectionMethod: 'url_pattern',
    detectionConfig: { urlPatterns: ['/thanks*'], successSelectors: ['.done'] },
    isCustom: false,
  };
  test.each(Object.entries(watched))('contract: Event configuration, %s', async (field, value) => {
    const { body } = await config(shop.brandId);
    const event = body.events.find(({ eventId }: { eventId: string }) => eventId === 'watched');
    expect(event[field]).toEqual(value);
  });

  test('contract: Event configuration, detectionConfig.channels and isCustom', async () => {
    const { body } = await config(shop.brandId);
    const chat = body.events.find(({ eventId }: { eventId: string }) => eventId === 'custom_chat');
    expect(chat).toMatchObject({
      isCustom: true,
      detectionConfig: { channels: ['#support', 'announcements'] },
      cooldownHours: 0,
    });
  });

  test('contract: Event configuration, maxClaims: -1 and 999999 are both unlimited', async () => {
    const { body } = await config(shop.brandId);
    const limits = ['endless', 'endless_too'].map(
      (id) => body.events.find(({ eventId }: { eventId: string }) => eventId === id).maxClaims,
    );
    expect(limits).toEqual([-1, -1]);
  });

  test('contract: Limits, Event-config cache: 5 minutes, and an ETag to ask again with', async () => {
    const first = await config(shop.brandId);
    expect(first.headers.get('cache-control')).toBe('public, max-age=300');
    const etag = first.headers.get('etag') ?? '';
    // Weak, since the client asked for a compressed answer.
    expect(etag).toMatch(/^W\/"[\w-]+"$/);
    for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const again = await config(shop.brandId, { 'if-none-match': known });
      expect([again.status, again.body]).toEqual([304, '']);
      expect(again.headers.get('etag')).toBe(etag.slice(2));
      expect(again.headers.get('cache-control')).toBe('public, max-age=300');
      expect(again.headers.get('vary')).toMatch(/Origin/i);
    }
    expect((await config(shop.brandId, { 'if-none-match': '"other"' })).status).toBe(200);
    expect((await config(open.brandId)).headers.get('etag')).not.toBe(etag);
  });

  test.each<[string, number, string]>([
    ['', 400, 'Invalid event data'],
    ['?brandId=', 400, 'Invalid event data'],
    ['?brandId=shop', 400, 'Invalid event data'],
    ['?brandId=%00', 400, 'Invalid event data'],
    ['?brandId=%', 400, 'Invalid event data'],
    [`?brandId=0x${'9'.repeat(40)}`, 400, `Brand not found: 0x${'9'.repeat(40)}`],
  ])('contract: GET event-config, query %j gives %i', async (query, status, error) => {
    const answer = await service.request(`${API}/event-config${query}`);
    expect([answer.status, answer.body.error]).toEqual([status, error]);
    expect(answer.headers.get('cache-control')).toBeNull();
  });

  test('contract: GET event-config, brandId in any case', async () => {
    const capitals = `0x${'EF'.repeat(20)}`;
    expect((await config(capitals)).body.error).toBe(`Brand not found: ${capitals.toLowerCase()}`);
  });

  test('eventNameMapping is in it where the brand has one', () => {
    const profile = { domains: [], platforms: {}, clientBypass: 'allow', mintTo: 'wallet' } as const;
    const brand = { brandId: '0x11', name: 'Shop', automation: true } as const;
    const mapped = { ...profile, domains: [], eventNameMapping: { signup: 'account_creation' } };
    const reply = (of: typeof mapped | (typeof profile & { domains: [] })) =>
      eventConfigReply({ brand: { ...brand, profile: { ...of, domains: [] } }, rules: [] });
    expect(reply(mapped)).toMatchObject({ eventNameMapping: { signup: 'account_creation' } });
    expect(reply({ ...profile, domains: [] })).not.toHaveProperty('eventNameMapping');
  });
});

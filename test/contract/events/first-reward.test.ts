import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';
import { someone, startTestService, type TestService } from '../../kits/service/service.ts';

describe.each(databaseKinds)('a first reward on $kind', ({ open }) => {
  let service: TestService;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    service = await startTestService({ databaseUrl: database.databaseUrl });
  });
  afterAll(async () => {
    await service?.stop();
    await database?.stop();
  });

  test('is answered with the contract’s Reward result, and the chain agrees', async () => {
    const userEmail = someone();
    const { status, body } = await service.event({ userEmail });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      eventId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      rewardAmount: 100,
      eventType: 'account_creation',
      walletCreated: true,
      walletAddress: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      reward: { amount: 100, eventType: 'account_creation' },
    });
    expect(await service.balanceOf(body.walletAddress)).toBe(100n);
    const receipt = await service.chain.getTransactionReceipt({ hash: body.transactionHash });
    expect(receipt.status).toBe('success');
    expect(body.reward.walletAddress).toBe(body.walletAddress);
    expect(body.reward.transactionHash).toBe(body.transactionHash);
  });

  test('a second event of the same user goes to the same wallet', async () => {
    const userEmail = someone();
    const first = await service.event({ userEmail });
    const second = await service.event({ userEmail, eventType: 'complete_survey' });
    expect(second.body).toMatchObject({
      walletAddress: first.body.walletAddress,
      walletCreated: false,
      rewardAmount: 75,
    });
    expect(await service.balanceOf(first.body.walletAddress)).toBe(175n);
  });

  test('users of the fixture have the addresses of the ready line', async () => {
    const [alice] = service.ready.users;
    const { body } = await service.event({ userEmail: alice?.email, eventType: 'newsletter_subscribe' });
    expect(body.walletAddress).toBe(alice?.address);
    expect(body.walletCreated).toBe(false);
  });

  test('a user named by an address is paid there', async () => {
    const address = '0x00000000000000000000000000000000000A11cE';
    const { status, body } = await service.event({ userIdentifier: address });
    expect(status).toBe(200);
    expect(body.walletAddress.toLowerCase()).toBe(address.toLowerCase());
    expect(await service.balanceOf(address)).toBe(100n);
  });
});

describe.each(databaseKinds)('the rules over time on $kind', ({ open }) => {
  let service: TestService;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    service = await startTestService({ databaseUrl: database.databaseUrl });
  });
  afterAll(async () => {
    await service?.stop();
    await database?.stop();
  });

  test('again: 409 within the window, 429 in the cooldown, 429 at the maximum (contract: Errors)', async () => {
    const userEmail = someone();
    const first = await service.event({ userEmail });
    const duplicate = await service.event({ userEmail });
    expect(duplicate.status).toBe(409);
    expect(duplicate.body).toMatchObject({
      success: false,
      error: expect.stringContaining('already being processed'),
      details: { existingEventId: first.body.eventId },
    });
    await service.advance('61s');
    const cooldown = await service.event({ userEmail });
    expect(cooldown.status).toBe(429);
    expect(cooldown.body).toMatchObject({
      success: false,
      error: 'Cooldown active',
      details: {
        message: expect.any(String),
        reason: 'cooldown',
        cooldownSeconds: 86_400,
        previousReward: { eventId: first.body.eventId, rewardAmount: 100 },
      },
    });
    expect(Number(cooldown.headers.get('retry-after'))).toBe(cooldown.body.details.remainingSeconds);
    await service.advance('24h');
    const used = await service.event({ userEmail });
    expect(used.status).toBe(429);
    expect(used.body).toMatchObject({
      error: 'Max claims reached',
      details: { message: expect.any(String), reason: 'max_claims_reached', totalClaims: 1, maxClaims: 1 },
    });
    expect(await service.balanceOf(first.body.walletAddress)).toBe(100n);
  });

  test('the domain must be the brand’s own or one under it (contract: Domain rule)', async () => {
    const foreign = await service.event({ userEmail: someone(), domain: 'evil-demo.example' });
    expect(foreign.status).toBe(403);
    expect(foreign.body.error).toContain('evil-demo.example');
    expect(foreign.body.error).toContain(service.brand.brandId);
    expect(foreign.body.error).toContain('demo.example');
    expect((await service.event({ userEmail: someone(), domain: 'shop.demo.example' })).status).toBe(200);
    // The demo brand says `domainless: allow`.
    expect((await service.event({ userEmail: someone(), domain: undefined })).status).toBe(200);
    const bySource = {
      userEmail: someone(),
      domain: undefined,
      sourceUrl: 'https://www.demo.example/thanks',
    };
    expect((await service.event(bySource)).status).toBe(200);
  });

  test('the chain’s time follows the clock', async () => {
    const before = await service.chain.getBlock();
    await service.advance('7d');
    await service.event({ userEmail: someone() });
    const after = await service.chain.getBlock();
    expect(Number(after.timestamp - before.timestamp)).toBeGreaterThanOrEqual(7 * 86_400);
  });

  test('a limit for all users together holds under concurrency', async () => {
    const answers = await Promise.all(
      Array.from({ length: 250 }, () => service.event({ userEmail: someone(), eventType: 'custom_limited' })),
    );
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
    expect([count(200), count(429)]).toEqual([100, 150]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.details).toMatchObject({ reason: 'max_total_claims_reached', maxTotalClaims: 100 });
  });

  test('of many identical events at once, one is paid', async () => {
    const userEmail = someone();
    const answers = await Promise.all(Array.from({ length: 100 }, () => service.event({ userEmail })));
    const paid = answers.filter(({ status }) => status === 200);
    expect(paid).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(99);
    expect(await service.balanceOf(paid[0]?.body.walletAddress)).toBe(100n);
  });
});

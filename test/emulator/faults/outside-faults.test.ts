/** What callers and brands meet while receivers, constraint servers, the identity provider, DNS or the clock fail on purpose. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BRAND, perk, startConstraintsKit } from '../../contract/constraints/kit.ts';
import { until } from '../../kits/service/clock.ts';
import { faultsOf } from '../../kits/service/faults.ts';
import { clientOf, someone, startTestService, type TestService } from '../../kits/service/service.ts';

describe('of a stack with its inbox', () => {
  let service: TestService;
  let faults: ReturnType<typeof faultsOf>;
  beforeAll(async () => {
    service = await startTestService({ frozen: true });
    faults = faultsOf(service);
  });
  afterAll(() => service.stop());
  afterEach(() => faults.clear());

  const controls = (path: string) => service.request(`${service.ready.urls.control}${path}`);
  interface Delivery {
    eventId: string;
    subject: string;
    state: string;
    attempts: number;
  }
  /** The webhook that tells of a reward. */
  const webhookOf = async (rewardId: string): Promise<Delivery> => {
    const told = async (): Promise<Delivery[]> =>
      (await controls('/webhooks/deliveries?limit=100')).body.deliveries.filter(
        ({ subject }: Delivery) => subject === rewardId,
      );
    await until('the webhook is written', async () => (await told()).length > 0);
    const [webhook] = await told();
    if (!webhook) throw new Error('it is gone');
    return webhook;
  };
  /** How often the built-in receiver got it. */
  const timesReceived = async ({ eventId }: Delivery): Promise<number> => {
    const { deliveries } = (await controls('/inbox?limit=100')).body;
    return deliveries.filter((one: unknown) => JSON.stringify(one).includes(eventId)).length;
  };
  /** Moves the clock from attempt to attempt, until the webhook is delivered. */
  const delivered = async (rewardId: string): Promise<Delivery> => {
    await until('it is delivered', async () => {
      const { state } = await webhookOf(rewardId);
      if (state === 'waiting') await service.advance('10m');
      return state === 'delivered';
    });
    return webhookOf(rewardId);
  };

  test.each(['away', '500'])('receiver=%s: the webhook comes with a later attempt, once', async (effect) => {
    await faults.fail(`receiver=${effect}`, { times: 2 });
    const { body } = await service.event({ userEmail: someone() });
    const webhook = await delivered(body.eventId);
    expect([webhook.attempts, await timesReceived(webhook)]).toEqual([3, 1]);
    await faults.agree();
  });

  test('receiver=answer-lost: the webhook comes twice, under one id', async () => {
    await faults.fail('receiver=answer-lost', { times: 1 });
    const { body } = await service.event({ userEmail: someone() });
    const webhook = await delivered(body.eventId);
    expect([webhook.attempts, await timesReceived(webhook)]).toEqual([2, 2]);
  });

  test('dns: a question that fails links nothing, and the next one does', async () => {
    const { domain } = service.brand;
    const isConfigured = async () => {
      const { status, body } = await service.post('/rewards-api/verify-dns', { domain });
      return [status, body.dnsConfigured];
    };
    for (const effect of ['servfail', 'nxdomain', 'slow:1m']) {
      await faults.fail(`dns=${effect}`, { times: 1 });
      expect([effect, ...(await isConfigured())]).toEqual([effect, 200, false]);
    }
    await faults.fail('dns=slow:100ms', { times: 1 });
    expect(await isConfigured()).toEqual([200, true]);
  });

  test('clock: it jumps, and back when it is over; rewards go on, and no block is older than the one before', async () => {
    const now = async () => (await controls('/clock')).body.nowMs;
    const before = await now();
    const [ahead, behind, after] = [someone(), someone(), someone()];
    const { id } = await faults.fail('clock=ahead:5m');
    expect(await now()).toBe(before + 300_000);
    expect((await service.event({ userEmail: ahead })).status).toBe(200);
    await service.request(`${service.ready.urls.control}/faults/${id}`, { method: 'DELETE' });
    expect(await now()).toBe(before);
    await faults.fail('clock=behind:5m', { for: '10m' });
    expect(await now()).toBe(before - 300_000);
    expect((await service.event({ userEmail: behind })).status).toBe(200);
    await service.advance('10m');
    await until('it is over', async () => (await faults.list()).length === 0);
    expect(await now()).toBe(before + 600_000);
    expect((await service.event({ userEmail: after })).status).toBe(200);
    for (const user of [ahead, behind, after]) await faults.paidOnce(user, 100);
    const latest = await service.chain.getBlock();
    for (let number = latest.number; number > latest.number - 4n; number--) {
      const [block, parent] = [
        await service.chain.getBlock({ blockNumber: number }),
        await service.chain.getBlock({ blockNumber: number - 1n }),
      ];
      expect(block.timestamp).toBeGreaterThanOrEqual(parent.timestamp);
    }
    const counted = await service.control('/faults', { seam: 'clock', effect: 'ahead:5m', times: 2 });
    expect([counted.status, counted.body.message]).toEqual([
      400,
      'times cannot be counted for the clock: give `for`, or clear it',
    ]);
  });
});

describe('of a stack whose perks have constraints', () => {
  let kit: Awaited<ReturnType<typeof startConstraintsKit>>;
  let faults: ReturnType<typeof faultsOf>;
  beforeAll(async () => {
    kit = await startConstraintsKit({});
    faults = faultsOf(clientOf(kit.ready));
  }, 60_000);
  afterAll(() => kit.stop());
  afterEach(() => faults.clear());

  test('identity: a call is refused with IDENTITY_UNAVAILABLE, and goes through afterwards', async () => {
    const { bob } = kit.users;
    await faults.fail('identity=away', { times: 1 });
    const refused = await kit.buy(bob, perk.asks);
    expect([refused.status, refused.body.code]).toEqual([503, 'IDENTITY_UNAVAILABLE']);
    expect((await kit.buy(bob, perk.asks)).status).toBe(200);
    expect(await kit.perksOf(bob.address, perk.asks)).toBe(1n);
  });

  test('node=answer-lost: a relayed call whose answer is lost is sent once', async () => {
    const { carol } = kit.users;
    await faults.fail('node=answer-lost', { times: 1 });
    expect((await kit.buy(carol, perk.asks)).status).toBe(200);
    expect(await faults.list()).toEqual([]);
    expect(await kit.perksOf(carol.address, perk.asks)).toBe(1n);
  });

  test('constraint-api: a purchase is refused while the server gives no answer, and nothing is sent', async () => {
    const { alice } = kit.users;
    await faults.fail('constraint-api=slow:100ms', { times: 1 });
    expect((await kit.buy(alice, perk.asks)).status).toBe(200);
    for (const [effect, token] of [
      ['away', perk.asksLonger],
      ['500', perk.elsewhere],
    ] as const) {
      await faults.fail(`constraint-api=${effect}`, { times: 1 });
      const { status, body } = await kit.buy(alice, token);
      expect([effect, status, body.details.reason, body.details.missing[0].reason]).toEqual([
        ...[effect, 403, 'constraints_not_met', 'external_api_unavailable'],
      ]);
      expect(await kit.perksOf(alice.address, token)).toBe(0n);
    }
    await until('the server is asked again', async () => {
      const wish = {
        brand: BRAND,
        perk: `00000000-0000-4000-8000-0000000000${perk.elsewhere}`,
        user: alice.email,
      };
      return (await kit.control('/constraints/check', wish)).body.eligible === true;
    });
    expect((await kit.buy(alice, perk.elsewhere)).status).toBe(200);
    expect(await kit.perksOf(alice.address, perk.elsewhere)).toBe(1n);
  });
});

/** Rules with `oncePer`: a user is paid once for each value of a field of the metadata, for ever (docs/api.md). */
import { describe, expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { API, expectBothForms, onEachDatabase, shop } from '../kit.ts';

onEachDatabase(
  'once per order',
  (get) => {
    const deliver = (userEmail: string, metadata: Record<string, unknown>, eventType = 'shipped') =>
      get().send(shop, { userEmail, eventType, metadata });
    const earned = async (userEmail: string) => {
      const asked = { brandId: shop.brandId, userEmail, includeHistory: true };
      const { body } = await get().post(`${API}/user-balance`, asked);
      return body.history.map((one: { amount: number }) => one.amount);
    };

    test('an order that is delivered five times over a month pays once, and each time says which reward it has', async () => {
      const userEmail = someone();
      const order = { order_id: 'A-1001', order_total: 42 };
      const first = await deliver(userEmail, order);
      expect([first.status, first.body.rewardAmount]).toEqual([200, 42]);
      for (const wait of ['5s', '61s', '3d', '27d']) {
        await get().advance(wait);
        const again = await deliver(userEmail, order);
        expect([again.status, again.body.error]).toEqual([409, 'Already rewarded']);
        expectBothForms(again);
        expect(again.body.details).toMatchObject({
          reason: 'already_rewarded',
          field: 'order_id',
          existingEventId: first.body.eventId,
          previousReward: { eventId: first.body.eventId, rewardAmount: 42 },
          retryable: false,
        });
        expect(again.headers.get('retry-after')).toBeNull();
      }
      expect(await earned(userEmail)).toEqual([42]);
    });

    test('two orders within the duplicate window both pay, of one user one after the other and at once', async () => {
      const userEmail = someone();
      const one = await deliver(userEmail, { order_id: 'B-1' });
      const two = await deliver(userEmail, { order_id: 'B-2' });
      expect([one.status, two.status]).toEqual([200, 200]);
      const orders = ['B-3', 'B-4', 'B-3', 'B-4', 'B-5', 'B-3'];
      const answers = await Promise.all(orders.map((order_id) => deliver(userEmail, { order_id })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409, 409]);
      expect(await earned(userEmail)).toEqual([10, 10, 10, 10, 10]);
      expect((await deliver(someone(), { order_id: 'B-1' })).status).toBe(200);
    });

    test('cooldown and max claims hold as the rule says', async () => {
      const userEmail = someone();
      const tweet = (tweet_id: string) => deliver(userEmail, { tweet_id }, 'tweet');
      expect((await tweet('1')).status).toBe(200);
      const soon = await tweet('2');
      expect([soon.status, soon.body.details.reason]).toEqual([429, 'cooldown']);
      await get().advance('1h');
      expect((await tweet('2')).status).toBe(200);
      await get().advance('1h');
      expect((await tweet('1')).body.details.reason).toBe('already_rewarded');
      expect((await tweet('3')).status).toBe(200);
      await get().advance('1h');
      expect((await tweet('4')).body.details.reason).toBe('max_claims_reached');
    });

    test('numbers and texts with the same text are one order', async () => {
      const userEmail = someone();
      expect((await deliver(userEmail, { order_id: 1001 })).status).toBe(200);
      for (const order_id of ['1001', ' 1001 ', 1001]) {
        expect((await deliver(userEmail, { order_id })).status).toBe(409);
      }
      expect((await deliver(userEmail, { order_id: '01001' })).status).toBe(200);
      // One letter in two spellings.
      expect((await deliver(userEmail, { order_id: 'é' })).status).toBe(200);
      expect((await deliver(userEmail, { order_id: 'e\u0301' })).status).toBe(409);
    });

    test('an event without the field is judged by the limits alone', async () => {
      const userEmail = someone();
      expect((await deliver(userEmail, {})).status).toBe(200);
      expect((await deliver(userEmail, {})).body.details.existingEventId).toBeDefined();
      expect((await deliver(userEmail, { order_id: 'G-1' })).status).toBe(200);
      expect(await earned(userEmail)).toHaveLength(2);
    });

    test.each([
      [
        'null',
        { order_id: null },
        /^metadata\.order_id: is required: the event is paid once for each order_id$/,
      ],
      ['blanks', { order_id: '  ' }, /is required/],
      ['a list', { order_id: ['A-1'] }, /must be a text or a number/],
      ['an object', { order_id: { id: 1 } }, /must be a text or a number/],
      ['yes or no', { order_id: true }, /must be a text or a number/],
      ['201 characters', { order_id: 'x'.repeat(201) }, /must have at most 200 characters/],
      ['a number that is not exact', { order_id: 1585841080431321000 }, /send it as a text/],
    ])('%s: 400 that names the field, and nothing is claimed', async (_, metadata, problem) => {
      const userEmail = someone();
      const refused = await deliver(userEmail, metadata);
      expect([refused.status, refused.body.error]).toEqual([400, 'Invalid event data']);
      expect(refused.body.details.errors).toEqual([expect.stringMatching(problem)]);
      expect(await earned(userEmail)).toEqual([]);
    });

    test('in bulk each item is judged by its own order', async () => {
      const userEmail = someone();
      const { brandId, domain } = shop;
      const item = (order_id: unknown) => ({
        brandId,
        domain,
        userEmail,
        eventType: 'shipped',
        metadata: { order_id },
      });
      const { body } = await get().bulk([item('C-1'), item('C-2'), item('C-1'), item('C-3'), item(null)]);
      expect(body.results.map(({ success }: { success: boolean }) => success).filter(Boolean)).toHaveLength(
        3,
      );
      expect((await earned(userEmail)).length).toBe(3);
    });

    test('the same idempotency key gets the first answer; another key does not pay the order again', async () => {
      const userEmail = someone();
      const metadata = { order_id: 'D-1' };
      const send = (key: string) =>
        get().send(shop, { userEmail, eventType: 'shipped', metadata }, { 'idempotency-key': key });
      const first = await send(`${userEmail}-1`);
      expect((await send(`${userEmail}-1`)).body.eventId).toBe(first.body.eventId);
      const other = await send(`${userEmail}-2`);
      expect([other.status, other.body.details.existingEventId]).toEqual([409, first.body.eventId]);
    });

    test('check-eligibility answers for an order, and without one for a new one', async () => {
      const userEmail = someone();
      const ask = async (metadata?: Record<string, unknown>) =>
        (
          await get().post(`${API}/check-eligibility`, {
            brandId: shop.brandId,
            eventType: 'shipped',
            userEmail,
            metadata,
          })
        ).body;
      expect(await ask({ order_id: 'E-1' })).toMatchObject({ eligible: true });
      await deliver(userEmail, { order_id: 'E-1' });
      expect(await ask({ order_id: 'E-1' })).toMatchObject({ eligible: false, reason: 'already_rewarded' });
      expect((await ask({ order_id: 'E-1' })).cooldownEndsAt).toBeUndefined();
      expect(await ask({ order_id: 'E-2' })).toMatchObject({ eligible: true, claimCount: 1 });
      expect((await ask({ order_id: ['E-2'] })).details.errors).toHaveLength(1);
    });

    test('requests explain names the order and the reward that it has', async () => {
      const userEmail = someone();
      const first = await deliver(userEmail, { order_id: 'F-1' });
      const again = await deliver(userEmail, { order_id: 'F-1' });
      const checkOf = async (answer: typeof first) => {
        const { explained } = await get().explain(answer);
        return explained[0].checks.find(({ name }: { name: string }) => name === 'duplicate');
      };
      expect(await checkOf(first)).toMatchObject({
        outcome: 'ok',
        text: 'order_id F-1 was not rewarded before',
      });
      expect(await checkOf(again)).toMatchObject({
        outcome: 'refused',
        text: expect.stringContaining(`by event ${first.body.eventId}`),
        passesAt: null,
      });
    });

    describe('as a setting', () => {
      test('orders that were paid before the rule named the field are not paid again', async () => {
        await get().setRule(shop, 'late', { reward: 10, maxClaims: 'unlimited', cooldown: 0 });
        const userEmail = someone();
        const send = (order_id: unknown) => deliver(userEmail, { order_id }, 'late');
        const first = await send('G-1');
        await get().advance('2m');
        expect((await send(17)).status).toBe(200);
        await get().advance('2m');
        const rule = await get().setRule(shop, 'late', { oncePer: 'order_id' });
        expect([rule.status, rule.body.oncePer]).toEqual([200, 'order_id']);
        expect((await send('G-1')).body.details?.existingEventId).toBe(first.body.eventId);
        expect((await send('17')).status).toBe(409);
        expect((await send('G-2')).status).toBe(200);
        await get().setRule(shop, 'late', { oncePer: 'none' });
        await get().advance('2m');
        expect((await send('G-1')).status).toBe(200);
      });

      test.each(['', 'order id', 'x'.repeat(51), 'a.b'])('"%s" is no name of a field', async (oncePer) => {
        const refused = await get().setRule(shop, 'worded', { reward: 1, oncePer });
        if (oncePer === '') expect(refused.body.oncePer).toBeNull();
        else
          expect([refused.status, JSON.stringify(refused.body)]).toEqual([
            400,
            expect.stringContaining('must be the name of a metadata field'),
          ]);
      });
    });

    test('ledger and chain agree', async () => {
      await expect
        .poll(async () => (await get().request(`${get().ready.urls.control}/verify`)).body.differences)
        .toEqual([]);
    });
  },
  { clockStartMs: Date.UTC(2031, 0, 6, 12) },
);

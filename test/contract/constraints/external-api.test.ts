/** Purchase constraints at the relay: what a brand's server says about buyers, and for how long it counts. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';
import { BRAND, perk, startConstraintsKit } from './kit.ts';

describe.each(databaseKinds)('constraints of a purchase by relay (on $kind)', ({ open }) => {
  let kit: Awaited<ReturnType<typeof startConstraintsKit>>;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    kit = await startConstraintsKit(database);
  }, 60_000);
  afterAll(async () => {
    await kit?.stop();
    await database?.stop();
  });
  // What an earlier test has left in the cache, and every rest of the server, is over.
  beforeEach(async () => {
    kit.says.status = 200;
    kit.says.body = { eligible: true };
    await kit.advance('2h');
    kit.asked();
  });

  test("the first check asks the brand's server, the next within the TTL does not, after it one does", async () => {
    const { alice } = kit.users;
    const before = await kit.perksOf(alice.address, perk.asks);
    expect((await kit.buy(alice, perk.asks)).status).toBe(200);
    const [question] = kit.brandServer.received;
    expect([question?.method, question?.path]).toEqual(['POST', '/eligible']);
    expect(JSON.parse(String(question?.body))).toEqual({
      brand_id: BRAND,
      user_address: alice.address,
      collection_id: Number(perk.asks),
    });
    expect(kit.asked()).toBe(1);
    await kit.advance('59s');
    expect((await kit.buy(alice, perk.asks)).status).toBe(200);
    expect(kit.asked()).toBe(0);
    await kit.advance('1s');
    expect((await kit.buy(alice, perk.asks)).status).toBe(200);
    expect(kit.asked()).toBe(1);
    expect(await kit.perksOf(alice.address, perk.asks)).toBe(before + 3n);
  });

  test('a no is told with its reason, kept as well, and nothing is sent', async () => {
    const { bob } = kit.users;
    kit.says.body = { eligible: false, reason: 'Only for members of the club\u0007' };
    const refused = await kit.buy(bob, perk.asks);
    expect([refused.status, refused.body.code]).toEqual([403, 'VALIDATION_FAILED']);
    expect(refused.body.details).toMatchObject({
      reason: 'constraints_not_met',
      missing: [
        { type: 'external_api', reason: 'external_api_refused', message: 'Only for members of the club' },
      ],
    });
    expect(refused.body.error).toContain('Only for members of the club');
    kit.says.body = { eligible: true };
    expect((await kit.buy(bob, perk.asks)).status).toBe(403);
    expect(kit.asked()).toBe(1);
    expect(await kit.perksOf(bob.address, perk.asks)).toBe(0n);
  });

  test('callers who ask the same at once share one question', async () => {
    const { carol } = kit.users;
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => kit.buy(carol, perk.asks)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(kit.asked()).toBe(1);
  });

  test('a perk that needs another is for holders of that one', async () => {
    const user = kit.users.alice;
    const stranger = await kit.keyless('has-nothing@demo.example');
    const refused = await kit.buy(stranger, perk.needsPerk);
    expect(refused.body.details).toMatchObject({
      reason: 'constraints_not_met',
      missing: [
        { type: 'has_perk', reason: 'perk_missing', message: 'This perk is for holders of the perk Perk 11' },
      ],
    });
    expect((await kit.buy(user, perk.needsPerk)).status).toBe(200);
  });

  test('a server that hangs costs its time limit once: those who wait are not made to wait again', async () => {
    let release = () => {};
    kit.says.hold = new Promise((resolve) => {
      release = resolve;
    });
    const buyers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => kit.keyless(`waits-${index}@demo.example`)),
    );
    const answers = await Promise.all(buyers.map((buyer) => kit.buy(buyer, perk.elsewhere)));
    const late = await kit.buy(await kit.keyless('comes-late@demo.example'), perk.elsewhere);
    for (const { status, body } of [...answers, late]) {
      expect([status, body.details.missing]).toEqual([
        403,
        [expect.objectContaining({ reason: 'external_api_unavailable' })],
      ]);
    }
    // No more than may be asked at once; the others and the latecomer heard that the server does not answer.
    expect(kit.asked()).toBe(8);
    release();
    kit.says.hold = Promise.resolve();
  }, 30_000);
});

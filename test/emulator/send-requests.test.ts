/** Requests that the control API sends: a new event, and a kept one again, compared with the first time and counted. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const explained = async (id: string) =>
  (await service.request(`${service.ready.urls.control}/requests/${id}`)).body;
const idOf = (answer: { headers: Headers }) => answer.headers.get('x-request-id') ?? '';

test('an event that is sent again is a duplicate: what differs is told, and nothing comes of it', async () => {
  const sent = await service.event({ userEmail: someone(), eventId: `replay-${process.pid}` });
  const { status, body } = await service.control(`/requests/${idOf(sent)}/replay`, {});
  expect([status, body.reason]).toEqual([200, expect.stringMatching(/\w/)]);
  expect(body.id).not.toBe(idOf(sent));
  expect(body.differences).toContainEqual({ path: 'status', a: 200, b: body.status });
  expect(body.effects).toMatchObject({ rewards: 0, rwtRewarded: 0, wallets: 0 });
});

test('a request with the brand’s key has it again, and one that cannot be sent again says why', async () => {
  const { brandId, apiKey } = service.brand;
  const headers = { authorization: `Bearer ${apiKey}` };
  const checkout = await service.post(
    '/rewards-api/create-checkout',
    { brandId, userEmail: someone() },
    headers,
  );
  const again = await service.control(`/requests/${idOf(checkout)}/replay`, {});
  expect([again.status, again.body.status]).toEqual([200, checkout.status]);

  const unknown = await service.control('/requests/req_none/replay', {});
  expect([unknown.status, unknown.body.details.reason]).toEqual([404, 'request_not_found']);
  const hook = await service.post(
    '/rewards-api/payment-mint',
    { type: 'x' },
    { 'stripe-signature': 't=1,v1=00' },
  );
  const refused = await service.control(`/requests/${idOf(hook)}/replay`, {});
  expect([refused.status, refused.body.details.reason]).toEqual([409, 'not_replayable']);
  expect(refused.body.message).toContain('webhooks replay');
});

test('an event is sent with the first brand and its domain, as one that names them is, with its key if wished', async () => {
  const user = someone();
  const event = { eventType: 'account_creation', userEmail: user };
  const sent = await service.control('/requests', { event });
  expect([sent.status, sent.body]).toEqual([
    200,
    { id: expect.stringMatching(/^req_/), status: 200, reason: null, durationMs: expect.any(Number) },
  ]);
  expect(await explained(sent.body.id)).toMatchObject({
    decision: 'rewarded',
    user,
    brandId: service.brand.brandId,
  });

  const again = await service.control('/requests', { event: { ...event, domain: 'else.example' } });
  expect([again.body.status, again.body.reason]).toEqual([403, 'domain_not_authorized']);
  const withKey = await service.control('/requests', {
    event: { ...event, eventType: 'purchase' },
    withKey: true,
  });
  expect((await explained(withKey.body.id)).credential).toBe('key');
  const ofNobody = await service.control('/requests', {
    event: { ...event, brandId: '0xbeef' },
    withKey: true,
  });
  expect([ofNobody.status, ofNobody.body.details.reason]).toEqual([409, 'not_sent']);
  expect((await service.control('/requests', { event: 'purchase' })).status).toBe(400);
});

test('a payment is begun as a brand’s server would, and what the service refuses is said in its words', async () => {
  const user = someone();
  const begun = await service.control('/processor/sessions', { user, amount: 500 });
  expect([begun.status, begun.body.status, begun.body.amount, begun.body.email]).toEqual([
    201,
    'open',
    500,
    user,
  ]);
  const paid = await service.control(`/processor/sessions/${begun.body.id}/pay`, {});
  expect(paid.body.paymentStatus).toBe('paid');
  const nobody = await service.control('/processor/sessions', { user: 'no mail', amount: 500 });
  expect([nobody.status, nobody.body.details.reason]).toEqual([409, 'not_sent']);
  expect(nobody.body.error).toMatch(/answered 400/);
  const foreign = await service.control('/processor/sessions', { user, amount: 500, brand: 'else.example' });
  expect([foreign.status, foreign.body.details.reason]).toEqual([409, 'not_sent']);
});

test('a dry run says what the event would get, now or later, and changes nothing', async () => {
  const user = someone();
  const event = { eventType: 'rate_experience', userEmail: user };
  const dryRun = async (more: object = {}) =>
    (await service.control('/events/dry-run', { event, ...more })).body;
  expect(await dryRun()).toMatchObject({ decision: 'rewarded', rewardAmount: 50 });
  await service.event(event);
  await service.atRest();
  await service.control('/snapshot', { name: 'before-dry-runs' });
  expect(await dryRun()).toMatchObject({ decision: 'duplicate', rewardAmount: null });
  const { body: clock } = await service.request(`${service.ready.urls.control}/clock`);
  const at = (ms: number) => ({ at: new Date(clock.nowMs + ms).toISOString() });
  const soon = await dryRun(at(120_000));
  expect(soon).toMatchObject({ decision: 'cooldown', ...at(120_000) });
  expect(soon.explained.checks).toContainEqual(
    expect.objectContaining({ name: 'cooldown', outcome: 'refused' }),
  );
  expect(await dryRun(at(3_700_000))).toMatchObject({ decision: 'rewarded', rewardAmount: 50 });
  const back = await service.control('/events/dry-run', { event, ...at(-1_000) });
  expect([back.status, back.body.details.problems[0].setting]).toEqual([400, 'at']);
  expect((await dryRun({ event: { eventType: 'purchase' } })).decision).toBe('invalid_event_data');
  expect((await dryRun({ event: { ...event, userEmail: someone() } })).decision).toBe('rewarded');
  // Every table, the chain, payments and all else that a stack has.
  const difference = await service.request(`${service.ready.urls.control}/snapshots/before-dry-runs/diff`);
  expect(difference.body).toMatchObject({ isSame: true, lines: [] });
});

test('users are listed and shown with their claims, when each may be claimed again, and their rewards', async () => {
  const user = someone();
  await service.event({ eventType: 'rate_experience', userEmail: user });
  const ask = async (path: string) => await service.request(`${service.ready.urls.control}${path}`);
  const { body: listed } = await ask('/users?limit=1');
  expect(listed.users.map((one: { user: string }) => one.user)).toEqual([user]);
  expect((await ask(`/users?name=${user.slice(0, -12)}`)).body.users.length).toBeGreaterThan(0);
  const { body: shown } = await ask(`/users/${user}`);
  expect(shown).toMatchObject({
    user,
    rwt: expect.any(Number),
    brands: [{ name: 'Demo', rewards: 1, earned: 50, claims: [{ eventType: 'rate_experience', claims: 1 }] }],
    rewards: [{ eventType: 'rate_experience', amount: 50 }],
  });
  const [claim] = shown.brands[0].claims;
  expect(Date.parse(claim.againAt) - Date.parse(claim.lastAt)).toBe(3_600_000);
  expect((await ask('/users/nobody@people.example')).status).toBe(404);
  const { body: byWallet } = await ask(`/requests?user=${shown.address}`);
  expect(byWallet.requests.map((one: { user: string }) => one.user)).toEqual([user]);
});

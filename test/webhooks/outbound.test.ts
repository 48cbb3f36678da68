/** Webhooks through the front door: a reward, the brand's own server, the control API and the command line. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startReceiver } from '../kits/network/receivers.ts';
import { rewards } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { startTestService, type TestService } from '../kits/service/service.ts';

type Receiver = Awaited<ReturnType<typeof startReceiver>>;
let service: TestService;
let receiver: Receiver;
let answer = 200;
beforeAll(async () => {
  [service, receiver] = await Promise.all([
    startTestService(),
    startReceiver((_, response) => response.writeHead(answer).end('read')),
  ]);
});
afterAll(async () => {
  await service?.stop();
  await receiver?.stop();
});

const brand = () => service.brand.domain;
const hook = (path = '/hook') => `http://127.0.0.1:${receiver.port}${path}`;
const webhooks = (path: string) => `${service.ready.urls.control}/webhooks${path}`;
const read = async (path: string) => (await service.request(webhooks(path))).body;
const remove = (id: string) => service.request(webhooks(`/endpoints/${id}`), { method: 'DELETE' });
const add = async (more: Record<string, unknown> = {}) =>
  (await service.control('/webhooks/endpoints', { brand: brand(), url: hook(), ...more })).body;
let users = 0;
const reward = async () => {
  const userEmail = `webhook${++users}@demo.example`;
  const { status, body } = await service.event({ userEmail });
  expect(status).toBe(200);
  return { userEmail, ...body };
};
const delivered = async (subject: string, endpointId: string) => {
  const { deliveries } = await read(`/deliveries?endpoint=${endpointId}&limit=500`);
  return deliveries.find((one: { subject: string }) => one.subject === subject);
};
const cli = (...args: string[]) =>
  rewards(['--target', service.ready.urls.events, ...args, '-o', 'json'], {
    env: { REWARDS_CONTROL_TOKEN: service.ready.controlToken },
  });

describe('a reward', () => {
  test('is told to the built-in inbox of the demo brand, with right signatures', async () => {
    const { userEmail, transactionHash } = await reward();
    const inbox = async () => (await service.request(`${service.ready.urls.control}/inbox?limit=500`)).body;
    const find = async () =>
      (await inbox()).deliveries.find((one: { body: { email: string } }) => one.body?.email === userEmail);
    await until('it is in the inbox', async () => (await find()) !== undefined);
    const { body, signature, brandId, headers } = await find();
    expect(brandId).toBe(service.brand.brandId);
    expect(signature).toMatchObject({ valid: true });
    expect(headers['webhook-id']).toBe(body.id);
    expect(body).toMatchObject({
      type: 'reward.distributed',
      event: 'rwt_distributed',
      brandId,
      email: userEmail,
      rwtAmount: 100,
      transactionHash,
      data: { userEmail, amount: 100, eventType: 'account_creation', transactionHash },
    });
    expect(body.id).toMatch(/^evt_[0-9a-f-]{36}$/);
  });

  test('is told to each endpoint that wants its type, under one id', async () => {
    const [every, chosen, other] = [
      await add(),
      await add({ url: hook('/chosen'), types: ['reward.distributed'] }),
      await add({ url: hook('/other'), types: 'perk.redeemed' }),
    ];
    const { eventId } = await reward();
    for (const { id } of [every, chosen])
      await until('it is delivered', async () => (await delivered(eventId, id))?.state === 'delivered');
    expect(await delivered(eventId, other.id)).toBeUndefined();
    const [first, second] = [await delivered(eventId, every.id), await delivered(eventId, chosen.id)];
    expect(first.eventId).toBe(second.eventId);
    for (const { id } of [every, chosen, other]) await remove(id);
  });

  test('the secret of an endpoint is told once, and the log has its attempts', async () => {
    const { id, secret } = await add();
    expect(secret).toMatch(/^whsec_/);
    expect(JSON.stringify(await read('/endpoints'))).not.toContain(secret);
    const { eventId } = await reward();
    await until('it is delivered', async () => (await delivered(eventId, id))?.state === 'delivered');
    const shown = await read(`/deliveries/${(await delivered(eventId, id)).eventId}`);
    const own = shown.deliveries.find((one: { endpointId: string }) => one.endpointId === id);
    expect(own.log).toEqual([
      {
        at: expect.any(String),
        ms: expect.any(Number),
        signedAt: expect.any(String),
        status: 200,
        why: null,
        answer: 'read',
      },
    ]);
    const body = receiver.received.map((one) => one.body.toString()).find((text) => text === shown.body);
    expect(body).toBeDefined();
    await remove(id);
  });
});

test('nothing is told before the reward has the confirmations that are asked for', async () => {
  const slow = await startTestService({ engine: { follow: { confirmations: 3 } } });
  const mine = () =>
    fetch(slow.ready.urls.rpc, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine', params: [] }),
    });
  const head = async () => Number(await slow.chain.getBlockNumber({ cacheTime: 0 }));
  const told = () => receiver.received.filter((one) => one.path === '/confirmed').length;
  const hasFunds = async () => {
    const { body } = await slow.request(`${slow.ready.urls.control}/brands/${slow.brand.brandId}`);
    return body.funds.deposited > 0;
  };
  try {
    await slow.control('/webhooks/endpoints', { brand: slow.brand.domain, url: hook('/confirmed') });
    for (let n = 0; n < 3; n++) await mine();
    await until('the opening deposit is booked', hasFunds);
    const before = await head();
    const sent = slow.event({ userEmail: 'early@demo.example' });
    await until('its transaction is in a block', async () => (await head()) > before);
    expect(told()).toBe(0);
    await mine();
    expect([(await head()) - before, told()]).toEqual([2, 0]);
    await mine();
    await until('it is told', () => told() === 1);
    expect((await sent).status).toBe(200);
  } finally {
    await slow.stop();
  }
});

test('a reward whose block is taken back is paid again, and told under one id', async () => {
  const { id } = await add({ url: hook('/reorganised') });
  const { eventId } = await reward();
  await until('it is delivered', async () => (await delivered(eventId, id))?.state === 'delivered');
  const before = await service.chain.getBlock({ blockTag: 'latest' });
  const reorganise = { jsonrpc: '2.0', id: 1, method: 'anvil_reorg', params: [1, []] };
  await fetch(service.ready.urls.rpc, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(reorganise),
  });
  expect((await service.chain.getBlock({ blockNumber: before.number })).hash).not.toBe(before.hash);
  // A later reward is told after the one that was taken back was booked again.
  const later = await reward();
  await until(
    'the next is delivered',
    async () => (await delivered(later.eventId, id))?.state === 'delivered',
  );
  const { deliveries } = await read(`/deliveries?endpoint=${id}`);
  expect(deliveries).toHaveLength(2);
  const ids = receiver.received
    .filter(({ path }) => path === '/reorganised')
    .map((one) => one.headers['webhook-id']);
  expect(new Set(ids).size).toBe(2);
  expect((await service.request(`${service.ready.urls.control}/verify`)).body.ok).toBe(true);
  await remove(id);
});

describe('an endpoint', () => {
  test('that is turned off gets what it missed when it is recovered, and not before', async () => {
    const { id } = await add({ url: hook('/recovered') });
    await service.change(`/webhooks/endpoints/${id}`, { enabled: 'off' });
    const { eventId } = await reward();
    await until('it is held', async () => (await delivered(eventId, id))?.state === 'held');
    const early = await service.control(`/webhooks/endpoints/${id}/recover`, { since: '1h' });
    expect([early.status, early.body.message]).toEqual([
      400,
      expect.stringContaining(`enabled is off for ${id}: enable it first`),
    ]);
    expect((await service.change(`/webhooks/endpoints/${id}`, { enabled: 'on' })).body).toMatchObject({
      enabled: true,
      disabledWhy: null,
    });
    expect(await delivered(eventId, id)).toMatchObject({ state: 'held' });
    const { body } = await service.control(`/webhooks/endpoints/${id}/recover`, { since: '1h' });
    expect(body).toEqual({ recovered: 1 });
    await until('it is delivered', async () => (await delivered(eventId, id))?.state === 'delivered');
    await remove(id);
  });

  test('that is changed in one thing keeps the rest, and is off since it was first turned off', async () => {
    const { id } = await add({ url: hook('/changed'), types: 'reward.distributed' });
    const set = async (change: Record<string, unknown>) =>
      (await service.change(`/webhooks/endpoints/${id}`, change)).body;
    const rest = { types: ['reward.distributed'], disabledWhy: null, disabledAt: null };
    expect(await set({ url: hook('/moved') })).toMatchObject({ ...rest, url: hook('/moved'), enabled: true });
    const off = await set({ enabled: false });
    expect(off).toMatchObject({ enabled: false, disabledWhy: 'operator', url: hook('/moved') });
    await service.advance('1s');
    const { disabledAt } = off;
    expect(await set({ enabled: false })).toMatchObject({ enabled: false, disabledAt });
    expect(await set({ types: 'all' })).toMatchObject({ enabled: false, disabledAt, types: [] });
    const wrong = await service.change(`/webhooks/endpoints/${id}`, { url: 'file:///a' });
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringMatching(/\burl .*scheme/)]);
    expect(await set({ enabled: true })).toMatchObject({ enabled: true, disabledAt: null });
    await remove(id);
  });

  test('that gets a new secret has the one before beside it for as long as is asked, or not at all', async () => {
    const { id, createdAt } = await add({ url: hook('/secrets') });
    const rotate = async (overlap: string) =>
      (await service.control(`/webhooks/endpoints/${id}/secrets`, { overlap })).body;
    const stored = async () =>
      (await read('/endpoints')).endpoints.find((one: { id: string }) => one.id === id).previousSecretUntil;
    const { previousSecretUntil } = await rotate('1h');
    const lastsMs = Date.parse(previousSecretUntil) - Date.parse(createdAt);
    expect(lastsMs).toBeGreaterThanOrEqual(3_600_000);
    expect(lastsMs).toBeLessThan(2 * 3_600_000);
    expect(await stored()).toBe(previousSecretUntil);
    expect(await rotate('0')).toMatchObject({ previousSecretUntil: null });
    expect(await stored()).toBeNull();
    await remove(id);
  });

  test('that fails is tried again when the clock says so', async () => {
    const { id } = await add({ url: hook('/flaky') });
    answer = 503;
    const { eventId } = await reward();
    await until('it was tried', async () => (await delivered(eventId, id))?.attempts === 1);
    expect(await delivered(eventId, id)).toMatchObject({ state: 'waiting' });
    answer = 200;
    await service.advance('10s');
    await until('it is delivered', async () => (await delivered(eventId, id))?.state === 'delivered');
    await remove(id);
  });

  test('a delivered event is sent again under its id when somebody asks for it', async () => {
    const { id } = await add({ url: hook('/again') });
    const { eventId } = await reward();
    await until('it is delivered', async () => (await delivered(eventId, id))?.state === 'delivered');
    const evt = (await delivered(eventId, id)).eventId;
    const { body } = await service.control(`/webhooks/deliveries/${evt}/replay`, { endpoint: id });
    expect(body).toEqual({ replayed: 1 });
    const got = () => receiver.received.filter((one) => one.path === '/again');
    await until('it came twice', () => got().length === 2);
    expect(got().map(({ headers }) => headers['webhook-id'])).toEqual([evt, evt]);
    await remove(id);
  });

  test.each([
    ['a body that is a list', '/webhooks/endpoints', [], 'Send one JSON object'],
    ['a brand that is none', '/webhooks/endpoints', { brand: 7, url: 'https://a.example/' }, 'brand must be'],
    ['no URL', '/webhooks/endpoints', { brand: 'demo.example' }, 'url must be a URL'],
    ['not a URL', '/webhooks/endpoints', { brand: 'demo.example', url: 'here' }, 'url is not a URL'],
    ['another scheme', '/webhooks/endpoints', { brand: 'demo.example', url: 'file:///a' }, 'scheme'],
    [
      'a wrong type',
      '/webhooks/endpoints',
      { brand: 'demo.example', url: 'http://a/', types: 'x' },
      'types must be',
    ],
  ])('%s is refused with the reason', async (_, path, body, text) => {
    const { status, body: refusal } = await service.control(path, body);
    expect(status).toBe(400);
    expect(refusal.message).toContain(text);
  });

  test('more than ten of a brand are refused', async () => {
    const ids: string[] = [];
    for (;;) {
      const { status, body } = await service.control('/webhooks/endpoints', { brand: brand(), url: hook() });
      if (status !== 201) {
        expect(body.message).toContain('url would be endpoint 11 of the brand; it may have 10');
        break;
      }
      ids.push(body.id);
    }
    expect((await read('/endpoints')).endpoints).toHaveLength(10);
    for (const id of ids) await remove(id);
  });

  test('unknown ones are named', async () => {
    for (const [method, path] of [
      ['PATCH', '/endpoints/we_none'],
      ['DELETE', '/endpoints/we_none'],
      ['POST', '/endpoints/we_none/secrets'],
      ['GET', '/deliveries/evt_none'],
      ['GET', '/deliveries/evt_none/signature'],
      ['POST', '/deliveries/evt_none/replay'],
    ]) {
      const init = { method: method ?? '', ...(method !== 'GET' && { body: '{"types":"all"}' }) };
      const { status, body } = await service.request(webhooks(path ?? ''), init);
      expect([status, body.error]).toEqual([404, expect.stringMatching(/_none$/)]);
    }
    expect((await service.request(webhooks('/deliveries?state=lost'))).status).toBe(400);
    expect((await service.request(webhooks('/deliveries?limit=0'))).status).toBe(400);
    const many = Array.from({ length: 101 }, (_, place) => place).join(',');
    expect((await service.request(webhooks(`/deliveries?subject=${many}`))).status).toBe(400);
    expect((await service.request(webhooks('/endpoints/we_none'))).status).toBe(404);
    expect((await service.request(webhooks('/endpoints?brand=nobody.example'))).status).toBe(404);
  });
});

describe('a signature taken apart', () => {
  test('is what was sent, with what each header covers, and never the secret', async () => {
    const { id, secret } = await add({ url: hook('/apart') });
    const { eventId } = await reward();
    await until('it is delivered', async () => (await delivered(eventId, id))?.state === 'delivered');
    const { eventId: evt } = await delivered(eventId, id);
    const came = receiver.received.find((one) => one.path === '/apart' && one.headers['webhook-id'] === evt);
    const shown = await read(`/deliveries/${evt}/signature`);
    const own = shown.endpoints.find((one: { endpointId: string }) => one.endpointId === id);
    for (const [name, value] of Object.entries(own.headers))
      expect([name, came?.headers[name.toLowerCase()]]).toEqual([name, value]);
    expect(own.isOfAttempt).toBe(true);
    for (const { header, scheme, key, prefix, value, verifies } of own.signatures) {
      const isStandard = scheme === 'standard-webhooks';
      expect(key).toBe(isStandard ? 'the base64 after whsec_' : 'the text of the secret');
      const keyBytes = isStandard ? Buffer.from(secret.slice(6), 'base64') : secret;
      const digest = createHmac('sha256', keyBytes).update(prefix + shown.body);
      expect([header, value.includes(digest.digest(isStandard ? 'base64' : 'hex'))]).toEqual([header, true]);
      expect([header, verifies]).toEqual([header, true]);
    }
    expect(own.signatures.map(({ scheme }: { scheme: string }) => scheme)).toEqual([
      'service',
      'service-timestamped',
      'standard-webhooks',
    ]);
    expect(JSON.stringify(shown)).not.toContain(secret.slice(6));
    await remove(id);
    expect((await read(`/deliveries/${evt}/signature`)).endpoints).not.toContainEqual(
      expect.objectContaining({ endpointId: id }),
    );
  });

  test('says which part a verifier would refuse, and when', async () => {
    const { id } = await add({ url: hook('/late') });
    const { eventId } = await reward();
    await until('it is delivered', async () => (await delivered(eventId, id))?.state === 'delivered');
    const { eventId: evt } = await delivered(eventId, id);
    const late = await cli('webhooks', 'deliveries', 'signature', evt, '--at', '2050-01-01T00:00:00Z');
    const own = JSON.parse(late.stdout).data.body.endpoints.find(
      (one: { endpointId: string }) => one.endpointId === id,
    );
    const [bare, timestamped] = own.signatures;
    expect(bare).toMatchObject({ verifies: true, ageSeconds: null });
    expect(timestamped).toMatchObject({ verifies: false, failed: { part: 'timestamp' } });
    const wrong = await service.request(webhooks(`/deliveries/${evt}/signature?at=yesterday`));
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining('2030-01-01')]);
    await remove(id);
  });
});

describe('the command line', () => {
  test('adds, changes, rotates, turns off and on, recovers and removes an endpoint', async () => {
    const added = await cli(
      'webhooks',
      'endpoints',
      'add',
      brand(),
      hook('/cli'),
      '--types',
      'reward.distributed',
    );
    expect(added.code).toBe(0);
    const { id, secret } = JSON.parse(added.stdout).data.body;
    const listed = await cli('webhooks', 'endpoints', 'list', '--brand', brand());
    expect(listed.stdout).toContain(id);
    expect(listed.stdout).not.toContain(secret);
    const set = await cli('webhooks', 'endpoints', 'set', id, 'types=all', 'enabled=off');
    expect(JSON.parse(set.stdout).data.body).toMatchObject({ types: [], disabledWhy: 'operator' });
    const on = await cli('webhooks', 'endpoints', 'enable', id);
    expect(JSON.parse(on.stdout).data.body).toMatchObject({ enabled: true });
    const rotated = await cli('webhooks', 'endpoints', 'rotate-secret', id);
    const { secret: next, previousSecretUntil } = JSON.parse(rotated.stdout).data.body;
    expect(next).toMatch(/^whsec_/);
    expect(next).not.toBe(secret);
    expect(previousSecretUntil).toMatch(/^2/);
    const recovered = await cli('webhooks', 'endpoints', 'recover', id, '--since', '5d');
    expect(JSON.parse(recovered.stdout).data.body).toEqual({ recovered: 0 });
    expect((await cli('webhooks', 'endpoints', 'remove', id)).code).toBe(0);
    const gone = await cli('webhooks', 'endpoints', 'remove', id);
    expect([gone.code, JSON.parse(gone.stdout).error.message]).toEqual([1, expect.stringContaining(id)]);
  });

  test('shows deliveries and sends one again', async () => {
    const { id } = await add({ url: hook('/shown') });
    const { eventId } = await reward();
    await until('it is delivered', async () => (await delivered(eventId, id))?.state === 'delivered');
    const list = await cli('webhooks', 'deliveries', 'list', '--endpoint', id, '--state', 'delivered');
    const [{ eventId: evt }] = JSON.parse(list.stdout).data.body.deliveries;
    const about = ['--subject', `${eventId},no-such-id`, '--endpoint', id];
    for (const [type, count] of [
      ['reward.distributed', 1],
      ['payment.minted', 0],
    ] as const) {
      const some = await cli('webhooks', 'deliveries', 'list', ...about, '--type', type);
      expect(JSON.parse(some.stdout).data.body.deliveries).toHaveLength(count);
    }
    const health = JSON.parse((await cli('webhooks', 'endpoints', 'show', id)).stdout).data.body;
    expect(health).toMatchObject({ id, latest: { deliveries: 1, delivered: 1, waiting: 0, dueSince: null } });
    expect(health.latest.lastDeliveredAt).toMatch(/^2/);
    expect(JSON.stringify(health)).not.toContain('whsec_');
    const shown = await cli('webhooks', 'deliveries', 'show', evt);
    expect(JSON.parse(JSON.parse(shown.stdout).data.body.body).id).toBe(evt);
    const again = await cli('webhooks', 'deliveries', 'replay', evt, '--endpoint', id);
    expect(JSON.parse(again.stdout).data.body).toEqual({ replayed: 1 });
    await until('twice', () => receiver.received.filter(({ path }) => path === '/shown').length === 2);
    await remove(id);
  });

  test('brand set --webhook-url changes the default endpoint of the brand and leaves its secret', async () => {
    const set = await cli('brand', 'set', brand(), '--webhook-url', hook('/default'));
    expect(JSON.parse(set.stdout).data.body).toMatchObject({ url: hook('/default'), isDefault: true });
    expect(set.stdout).not.toContain('whsec_');
    const { userEmail } = await reward();
    const got = () =>
      receiver.received.some((one) => one.path === '/default' && one.body.includes(userEmail));
    await until('it is told there', got);
    await cli('brand', 'set', brand(), '--webhook-url', `${service.ready.urls.control}/inbox`);
    const both = await cli('brand', 'set', brand(), 'automation=on', '--webhook-url', hook());
    expect(both.code).toBe(2);
    expect((await cli('brand', 'set', brand())).code).toBe(2);
  });
});

test('the ready line has the secret that signs the webhooks of the demo brand', async () => {
  expect(service.brand.webhookSecret).toMatch(/^whsec_/);
});

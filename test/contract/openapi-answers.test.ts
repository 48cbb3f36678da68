/** The running service against its own description: every example is sent, every answer is held against its schema. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { keccak256, toHex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobRefusals } from '../../src/contract/control/refusals/job-refusals.ts';
import { snapshotRefusals } from '../../src/contract/control/refusals/snapshot-refusals.ts';
import type { RequestExample } from '../../src/contract/endpoint.ts';
import type { ApiDocument } from '../../src/http/openapi.ts';
import { devPaths } from '../../src/lib/development.ts';
import { devAccount } from '../kits/chain/dev-accounts.ts';
import { perkCall } from '../kits/chain/perks.ts';
import { personWith, redeemBody, WALLPAPERS } from '../kits/chain/redeeming.ts';
import { relayKitOf } from '../kits/chain/wallet.ts';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';
import { browserMissing, startBrowser } from '../kits/site/browser.ts';
import { operationsOf, validatorOf } from './api-description.ts';

let service: TestService;
const apis: Record<'events' | 'register' | 'services' | 'relay' | 'control', ApiDocument> =
  Object.create(null);

beforeAll(async () => {
  service = await startTestService({ undo: true });
  apis.events = (await service.request('/openapi.json')).body;
  apis.register = (await service.request('/openapi/register.json')).body;
  apis.services = (await service.request('/openapi/services.json')).body;
  apis.relay = (await service.request('/openapi/relay.json')).body;
  apis.control = (await service.request(`${service.ready.urls.control}/openapi.json`)).body;
});
afterAll(() => service.stop());

type Described = ReturnType<typeof operationsOf>[number];

/** Sends one example as the description gives it. */
function send(api: ApiDocument, { method, path, operation }: Described, example: RequestExample) {
  const [key, ...others] = operation.security ?? [];
  const isBrands = key && 'brandKey' in key && others.length === 0;
  const query = new URLSearchParams(example.query);
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(example.path?.[name] ?? name));
  const base = new URL(api.servers[0]?.url ?? '', service.ready.urls.events).href.replace(/\/$/, '');
  return service.request(`${base}${filled}?${query}`, {
    method: method.toUpperCase(),
    headers: {
      ...(key && 'controlToken' in key && { authorization: `Bearer ${service.ready.controlToken}` }),
      ...(isBrands && { authorization: `Bearer ${service.brand.apiKey}` }),
      ...(example.body !== undefined && { 'content-type': 'application/json' }),
      ...example.headers,
    },
    ...(example.body !== undefined && { body: JSON.stringify(example.body) }),
  });
}

/** The example's path with things that are there, in the state that the example needs. */
async function ownPath(
  { operation: { operationId } }: Described,
  path: RequestExample['path'],
  known: { id: string; eventId: string; transactionHash: string },
): Promise<Record<string, string> | undefined> {
  if (operationId === 'clearFault')
    return { name: (await service.control('/faults', { seam: 'node', effect: 'fee-cap' })).body.id };
  if (path?.id) return { id: known.id };
  if (path?.eventId) return { eventId: known.eventId };
  if (path?.hash) return { hash: known.transactionHash };
  if (path?.endpoint) {
    const made = await service.control('/processor/endpoints', { url: 'http://127.0.0.1:1/' });
    return { endpoint: made.body.id };
  }
  if (!path?.session) return path;
  const session = await openSession();
  if (/refund|dispute/.test(operationId)) await payFor(session);
  return { session };
}

async function openSession(): Promise<string> {
  const { brandId, domain } = service.brand;
  const pages = { successUrl: `https://${domain}/`, cancelUrl: `https://${domain}/` };
  const wanted = { brandId, amount: 500, userEmail: someone(), ...pages };
  return (await service.post('/rewards-api/create-checkout', wanted)).body.sessionId;
}
const payFor = (session: string) => service.control(`/processor/sessions/${session}/pay`, { webhook: false });

/** A body of payment-mint that mints. */
async function paidSession() {
  const sessionId = await openSession();
  await payFor(sessionId);
  return { sessionId };
}

/** A body of claim-milestone with which a milestone was reached. */
async function reachedMilestone() {
  const user = { brandId: service.brand.brandId, userIdentifier: someone() };
  await service.change(`/brands/${user.brandId}`, { 'streakMilestones.1': 5 });
  await service.post('/streak/record-activity', user);
  return { ...user, milestoneDays: 1 };
}

/** A code that can be used. */
async function redeemedCode() {
  const { email } = await personWith(service, 100);
  const { body } = await service.post('/perks/redeem', redeemBody(service, email, WALLPAPERS.id));
  return { brandId: service.brand.brandId, code: body.confirmationCode };
}

/** A redemption that waits for a role; `end` gives the role back. */
async function waitingRedemption() {
  const { email } = await personWith(service, 50);
  const { address } = devAccount({ path: devPaths.redemption });
  const role = [keccak256(toHex('REDEEMER_ROLE')), address];
  await perkCall(service, 'revokeRole', role);
  const asked = service.post('/perks/redeem', redeemBody(service, email, WALLPAPERS.id));
  const waiting = async () =>
    (await service.request(`${service.ready.urls.control}/redemptions?waiting=true`)).body.redemptions;
  await until('it waits', async () => (await waiting()).length > 0);
  const [{ id }] = await waiting();
  const end = async () => {
    await asked;
    await perkCall(service, 'grantRole', role);
  };
  return { id: id as string, end };
}

/** Bodies of operations that need something to be there first. */
const ownBodies: Record<string, () => Promise<unknown>> = {
  paymentMint: paidSession,
  claimMilestone: reachedMilestone,
  checkCode: redeemedCode,
  useCode: redeemedCode,
};

/** Holds an answer against what the description says of its status. */
function judge(api: ApiDocument, { operation }: Described, answer: Awaited<ReturnType<typeof send>>) {
  const response = operation.responses[answer.status];
  expect(response, `${operation.operationId} answered ${answer.status}`).toBeDefined();
  const [[type, media] = []] = Object.entries(response?.content ?? {});
  if (type) expect(answer.headers.get('content-type')).toContain(type);
  if (media?.schema) {
    const check = validatorOf(api, { closed: answer.status < 400 });
    expect(check(media.schema, answer.body), operation.operationId).toEqual([]);
  }
  const always = Object.keys(response?.headers ?? {}).filter(
    (name) => !/^(Access-Control|Retry-After)/.test(name),
  );
  for (const name of always) expect(answer.headers.get(name), name).not.toBeNull();
}

describe.each(['events', 'register', 'services', 'control'] as const)('%s host', (host) => {
  test('every example gets a documented answer, and does what it says', { timeout: 60_000 }, async () => {
    const api = apis[host];
    const rewarded = await service.event({ eventType: 'rate_experience', userEmail: someone() });
    const { eventId, transactionHash } = rewarded.body;
    const ofEvent = `${service.ready.urls.control}/webhooks/deliveries?limit=1`;
    await until(
      'the reward is told',
      async () => (await service.request(ofEvent)).body.deliveries.length > 0,
    );
    const [{ eventId: told }] = (await service.request(ofEvent)).body.deliveries;
    // An example may remove what it names, so each has an endpoint of its own.
    const endpointId = async () => {
      const wish = { brand: service.brand.domain, url: `${service.ready.urls.control}/inbox` };
      const { body } = await service.control('/webhooks/endpoints', wish);
      return body.id as string;
    };
    const latest = (await service.request(`${service.ready.urls.control}/requests?limit=1`)).body.requests[0]
      .id;
    for (const described of operationsOf(api)) {
      // They start processes: held against their shapes in test/console/jobs.test.ts.
      if (described.operation.tags?.includes('Jobs')) continue;
      for (const example of described.operation['x-examples']) {
        const waiting =
          described.operation.operationId === 'dropRedemption' ? await waitingRedemption() : undefined;
        const own = waiting
          ? { id: waiting.id }
          : example.path?.id?.startsWith('we_')
            ? { id: await endpointId() }
            : example.path?.id?.startsWith('evt_0190')
              ? { id: told }
              : await ownPath(described, example.path, { id: latest, eventId, transactionHash });
        if (example.path?.name === 'base')
          await service.control('/snapshot', { name: 'base', replace: true });
        const ownBody = ownBodies[described.operation.operationId];
        const body = ownBody ? await ownBody() : example.body;
        const sent = { ...example, body, ...(own && { path: own }) };
        const answer = await send(api, described, sent);
        await waiting?.end();
        expect(
          answer.status,
          `${described.operation.operationId}: ${JSON.stringify(answer.body)}`,
        ).toBeLessThan(300);
        judge(api, described, answer);
      }
    }
  });
});

test('refusals are the documented ones', async () => {
  const api = apis.events;
  const { brandId, domain } = service.brand;
  const manual = operationsOf(api).find(({ operation }) => operation.operationId === 'manualEvent');
  if (!manual) throw new Error('no manualEvent');
  const event = { brandId, domain, eventType: 'rate_experience', userEmail: 'refused@people.example' };
  const answers = [
    await service.event(event),
    await service.event(event),
    await service.event({ ...event, userEmail: 'not an address' }),
    await service.event({ ...event, eventType: 'custom_unknown' }),
    await service.event({ ...event, brandId: `0x${'1'.repeat(40)}` }),
    await service.event({ ...event, domain: 'elsewhere.example' }),
    await service.event({ ...event, eventType: 'custom_support_answer', metadata: { channel_id: 'x' } }),
    await service.event({ ...event, metadata: { much: 'x'.repeat(11_000) } }),
    await service.post('/rewards-api/manual-event', '{"__proto__":1}'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 409, 400, 400, 400, 403, 403, 413, 400]);
  for (const answer of answers) judge(api, manual, answer);
  await service.advance('61s');
  const cooling = await service.event(event);
  expect(cooling.status).toBe(429);
  judge(api, manual, cooling);
  expect(Number(cooling.headers.get('retry-after'))).toBe(cooling.body.details.remainingSeconds);
  // Each has the facts of its example, no more and no less.
  const examples = Object.values(api.components.examples).map(({ value }) => value as typeof cooling.body);
  for (const { body } of [...answers.slice(1), cooling]) {
    const shapes = examples.map(({ details }) => Object.keys(details).sort().join());
    expect(shapes).toContain(Object.keys(body.details).sort().join());
  }
});

test('refusals of the register host are the documented ones', async () => {
  const api = apis.register;
  const { brandId } = service.brand;
  const ask = (body: unknown) => service.post('/rewards-api/pregenerate-user', body);
  const user = { brand_id: brandId, oauth_provider: 'discord', oauth_user_id: '1', oauth_username: 'x' };
  const expected = {
    invalid_body: await ask('[]'),
    mixed_forms: await ask({ ...user, email: 'a@b.example' }),
    missing_fields: await ask({ brand_id: brandId, oauth_provider: 'discord' }),
    invalid_brand_id: await ask({ ...user, brand_id: 'x' }),
    invalid_email: await ask({ brand_id: brandId, email: 'x' }),
    invalid_oauth_provider: await ask({ ...user, oauth_provider: 'myspace' }),
    invalid_oauth_user_id: await ask(user),
    invalid_oauth_username: await ask({
      ...user,
      oauth_user_id: '1'.repeat(17),
      oauth_username: 'x'.repeat(101),
    }),
    body_too_large: await ask(`"${'x'.repeat(10_239)}"`),
  };
  for (const [code, { status, body }] of Object.entries(expected)) {
    const { summary = '', value } = api.components.examples[code] ?? {};
    expect(body, code).toEqual(value);
    expect(summary.startsWith(`${status}: `), code).toBe(true);
  }
});

test('answers of the relay are the documented ones', { timeout: 60_000 }, async () => {
  const { users, relay, purchase, send: relayAs } = await relayKitOf(service.ready);
  const [post, get] = operationsOf(apis.relay);
  if (post?.operation.operationId !== 'relay' || get?.operation.operationId !== 'relayStatus')
    throw new Error('the relay has other operations');
  const { alice } = users;
  const bearer = { authorization: `Bearer ${alice.token}` };
  const relayed = await relay(alice, purchase(alice.address));
  expect(relayed.status).toBe(200);
  judge(apis.relay, post, relayed);
  const { transactionHash } = relayed.body;
  const [documented] = post.operation['x-examples'];
  const to = service.ready.contracts.token;
  const refused = {
    UNAUTHORIZED: await relayAs(purchase(alice.address)),
    MISSING_FIELDS: await relayAs({}, bearer),
    INVALID_FIELDS: await relay(alice, { ...purchase(alice.address), to: 'x' }),
    INVALID_BODY: await relayAs('{', bearer),
    BODY_TOO_LARGE: await relayAs({ data: 'x'.repeat(70_000) }, bearer),
    CONTRACT_NOT_WHITELISTED: await relay(alice, { to: alice.address, data: '0x' }),
    VALIDATION_FAILED: await relay(alice, { to, data: '0xdeadbeef' }),
  };
  for (const [code, answer] of Object.entries(refused)) {
    expect(answer.body.code).toBe(code);
    judge(apis.relay, post, answer);
  }
  // The documented example is one that the relay understands, up to its user.
  const example = { ...(documented?.body as object), to: service.ready.contracts.perks };
  expect((await relay(alice, example)).body.code).toBe('VALIDATION_FAILED');
  for (const hash of [transactionHash, `0x${'0'.repeat(64)}`, 'nothing']) {
    judge(apis.relay, get, await service.request(`${service.ready.urls.relay}/relay/${hash}`));
  }
  const page = await service.request('/docs/relay');
  expect(page.body).toContain('/relay/{hash}');
});

test('refusals of the control host are the documented ones', async () => {
  const { control } = service.ready.urls;
  const authorization = `Bearer ${service.ready.controlToken}`;
  const ask = (path: string, init?: RequestInit) => service.request(`${control}${path}`, init);
  const change = (method: string, path: string, body: unknown) =>
    ask(path, { method, headers: { authorization }, body: JSON.stringify(body) });
  const second = { brandId: service.brand.brandId, name: 'Again', domains: 'again.example' };
  const expected = {
    foreign_host: await ask('/clock', { headers: { origin: 'https://elsewhere.example' } }),
    token_missing: await ask('/clock', { headers: { authorization: 'Bearer wrong' } }),
    invalid_clock_change: await change('POST', '/clock', {}),
    condition_not_ahead: await change('POST', '/clock', {
      until: 'cooldown:nobody@demo.example/purchase',
    }),
    invalid_filter: await ask('/requests?limit=0'),
    request_not_found: await ask('/requests/req_none'),
    invalid_body: await change('PATCH', '/brands/demo.example', []),
    body_too_large: await ask('/inbox', { method: 'POST', body: 'x'.repeat(65_537) }),
    unsupported_encoding: await ask('/inbox', { method: 'POST', headers: { 'content-encoding': 'gzip' } }),
    invalid_settings: await change('PATCH', '/brands/demo.example', { automation: 'maybe' }),
    brand_not_found: await ask('/brands/nobody.example'),
    rule_not_found: await change('DELETE', '/brands/demo.example/rules/custom_unknown', undefined),
    perk_not_found: await change('PATCH', '/perks/17', { cost: 1 }),
    redemption_not_found: await change('POST', '/redemptions/019aac5e-7a1b-7c3d-8e9f-0a1b2c3d4e5f/drop', {}),
    wallet_not_found: await ask('/wallets/nobody@demo.example'),
    brand_exists: await change('POST', '/brands', second),
    transaction_not_found: await ask(`/chain/transactions/0x${'0'.repeat(64)}`),
    processor_object_not_found: await ask('/processor/sessions/cs_test_none'),
    webhook_endpoint_not_found: await change('PATCH', '/webhooks/endpoints/we_none', { types: 'all' }),
    webhook_event_not_found: await ask('/webhooks/deliveries/evt_none'),
    site_user_not_found: await change('POST', '/site/users/nobody/application-passwords', {}),
    fault_not_found: await change('DELETE', '/faults/fault-9', undefined),
    invalid_limit: await ask('/verify?limit=0'),
    invalid_since: await ask('/verify?since=yesterday'),
    unknown_endpoint: await ask('/nothing'),
  };
  for (const [code, { status, body }] of Object.entries(expected)) {
    const { summary = '', value } = apis.control.components.examples[code] ?? {};
    expect(body, code).toEqual(value);
    expect(summary.startsWith(`${status}: `), code).toBe(true);
  }
  const session = await openSession();
  await payFor(session);
  const pay = operationsOf(apis.control).find(({ operation }) => operation.operationId === 'paySession');
  if (!pay) throw new Error('no paySession');
  const refused = await payFor(session);
  expect(refused.body.details.reason).toBe('processor_refused');
  judge(apis.control, pay, refused);
  const codes = Object.keys(apis.control.components.examples);
  expect(codes.filter((code) => !(code in expected))).toEqual([
    'request_ambiguous',
    // Told in test/emulator/send-requests.test.ts.
    'not_replayable',
    'not_sent',
    'invalid_fixture',
    // Told in hostile-buyers.test.ts.
    'redemption_not_waiting',
    // Told in test/cli/chain.test.ts.
    'node_unavailable',
    'block_not_found',
    'processor_refused',
    'hook_not_found',
    // Told in test/console/jobs.test.ts.
    ...Object.keys(jobRefusals),
    // Told in test/emulator/snapshots.
    ...Object.keys(snapshotRefusals),
    'method_not_allowed',
    'database_unavailable',
    'database_busy',
    'internal_error',
  ]);
});

describe('the reference page', () => {
  test('is one document that may reach nothing, and is not sent twice', async () => {
    const page = await service.request('/docs');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.body).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    for (const { path } of operationsOf(apis.events)) expect(page.body).toContain(path);
    const again = await service.request('/docs', {
      headers: { 'if-none-match': page.headers.get('etag') ?? '' },
    });
    expect([again.status, again.body]).toEqual([304, '']);
    const controls = await service.request(`${service.ready.urls.control}/docs`);
    expect(controls.body).toContain('/requests/{id}');
  });

  test.skipIf(browserMissing())(
    'runs in a browser under its own policy; its lines run in a shell',
    async () => {
      const browser = await startBrowser({ hosts: [] });
      try {
        const { context, errors } = await browser.visitor();
        const page = await context.newPage();
        const said: string[] = [];
        page.on('console', (message) => said.push(message.text()));
        const asked: string[] = [];
        page.on('request', (request) => asked.push(new URL(request.url()).pathname));
        await page.goto(`${service.ready.urls.events}/docs`);
        expect(await page.title()).toBe('Rewards: event handler');
        // The style applies: the policy lets it.
        expect((await page.locator('nav').boundingBox())?.width).toBe(256);
        await page.locator('figure button').first().click();
        await expect
          .poll(() => page.locator('figure button').first().textContent())
          .toMatch(/Copied|Selected/);
        const line = await page.locator('#health .curl').textContent();
        expect(line).toContain(service.ready.urls.events);
        expect(asked.filter((path) => path !== '/favicon.ico')).toEqual(['/docs']);
        expect(said).toEqual([]);
        expect(errors).toEqual([]);
        const curl = await promisify(execFile)('sh', ['-c', line ?? '']).catch((error) => error);
        if (curl.code !== 127) expect(JSON.parse(curl.stdout)).toMatchObject({ status: 'healthy' });
      } finally {
        await browser.stop();
      }
    },
  );
});

describe('rewards openapi', () => {
  test('prints the same document without a service', async () => {
    const finished = await rewards(['openapi', '--target', service.ready.urls.events]);
    expect(finished.code).toBe(0);
    expect(JSON.parse(finished.stdout)).toEqual({
      ...apis.events,
      servers: [{ url: service.ready.urls.events }],
    });
  });

  test('prints that of the relay', async () => {
    const { stdout } = await rewards(['openapi', '--host', 'relay', '--target', service.ready.urls.relay]);
    expect(JSON.parse(stdout)).toEqual({ ...apis.relay, servers: [{ url: service.ready.urls.relay }] });
  });

  test('prints that of the register host', async () => {
    const args = ['openapi', '--host', 'register', '--target', service.ready.urls.register];
    expect(JSON.parse((await rewards(args)).stdout)).toEqual({
      ...apis.register,
      servers: [{ url: service.ready.urls.register }],
    });
    const page = await service.request('/docs/register');
    expect(page.body).toContain('/rewards-api/pregenerate-user');
  });

  test('-o json puts it into the envelope', async () => {
    const { envelope } = await rewardsJson(['openapi', '--host', 'control']);
    expect(envelope).toMatchObject({ ok: true, meta: { command: 'openapi' } });
    expect(envelope.data.paths).toEqual(apis.control.paths);
    expect(envelope.data.servers).toEqual([{ url: 'http://127.0.0.1:8787/_rewards' }]);
  });
});

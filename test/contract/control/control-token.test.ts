/** The control API is for holders of the token: other users of the machine can neither change nor read anything. */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewardsJson } from '../../kits/service/cli.ts';
import { startTestService, type TestService } from '../../kits/service/service.ts';

let service: TestService;
let requestId: string;
beforeAll(async () => {
  service = await startTestService();
  const answer = await service.event({ userEmail: 'alice@demo.example' });
  requestId = answer.headers.get('x-request-id') ?? '';
});
afterAll(() => service.stop());

const at = (path: string) => `${service.ready.urls.control}${path}`;
const headersOf = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

test.each([undefined, '', 'wrong'])('every read is refused with the token %j', async (token) => {
  const headers = headersOf(token);
  for (const path of [
    ...['/clock', '/requests', `/requests/${requestId}`, '/brands', '/brands/demo.example'],
    ...['/wallets/alice@demo.example', '/wallets/docs', '/verify', '/brands/demo.example/dns', '/nothing'],
  ]) {
    const answer = await fetch(at(path), { headers });
    const text = await answer.text();
    expect([path, answer.status]).toEqual([path, 401]);
    expect(text).toContain('controlToken');
    expect(text).not.toContain('alice@');
    expect((await fetch(at(path), { method: 'HEAD', headers })).status).toBe(401);
  }
});

test('the description needs no token, and says what needs one', async () => {
  expect((await fetch(at('/docs'))).status).toBe(200);
  const { paths } = (await (await fetch(at('/openapi.json'))).json()) as {
    paths: Record<string, Record<string, { security?: unknown }>>;
  };
  expect(paths['/requests']?.get?.security).toEqual([{ controlToken: [] }]);
  expect(paths['/docs']?.get?.security).toBeUndefined();
});

test('the token of the ready line reads everything', async () => {
  const answer = await fetch(at(`/requests/${requestId}`), {
    headers: headersOf(service.ready.controlToken),
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('alice@demo.example')]);
});

test('a page of another site is refused with the token as well, and so is a name that only points here', async () => {
  const { hostname, port } = new URL(at('/clock'));
  const ask = (more: Record<string, string>, method = 'GET') =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { ...headersOf(service.ready.controlToken), ...more };
      const path = new URL(at('/clock')).pathname;
      request({ hostname, port, path, method, headers })
        .on('response', (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end(method === 'POST' ? '{"advance":"1h"}' : '');
    });
  expect(await ask({})).toBe(200);
  const names: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { host: 'evil.example' },
    { host: 'evil.example', origin: 'http://evil.example' },
  ];
  for (const foreign of names) {
    expect([foreign, await ask(foreign)]).toEqual([foreign, 403]);
    expect([foreign, await ask(foreign, 'POST')]).toEqual([foreign, 403]);
  }
});

test("a browser that opens the banner's link reads for its session, changes nothing and sees no secret", async () => {
  const accept = 'text/html,application/xhtml+xml';
  const link = at(`?token=${service.ready.controlToken}`);
  const entered = await fetch(link, { headers: { accept }, redirect: 'manual' });
  expect([entered.status, entered.headers.get('location')]).toEqual([
    303,
    `/_rewards/#token=${service.ready.controlToken}`,
  ]);
  const set = entered.headers.get('set-cookie') ?? '';
  expect(set).toMatch(/^rewards-control-\d+=\S+; Path=\/_rewards; HttpOnly; SameSite=Strict$/);
  expect(set).not.toContain(service.ready.controlToken);

  const cookie = set.split(';')[0] ?? '';
  const console = await fetch(at('/console/api'), { headers: { accept, cookie } });
  expect(await console.text()).toContain('href="/_rewards/docs"');
  expect((await fetch(at('/requests'), { headers: { cookie } })).status).toBe(200);
  expect(
    (await fetch(at('/brands/demo.example/dns?domain=demo.example'), { headers: { cookie } })).status,
  ).toBe(401);
  const advance = await fetch(at('/clock'), {
    method: 'POST',
    body: '{"advance":"1s"}',
    headers: { cookie },
  });
  expect(advance.status).toBe(401);
  expect((await fetch(at('?token=wrong'), { headers: { accept }, redirect: 'manual' })).status).toBe(401);
});

test('a command with the token explains a refusal; without it, it shows the refusal alone', async () => {
  const { events } = service.ready.urls;
  const args = ['send-event', 'account_creation', '--user', 'alice@demo.example', '--target', events];
  const brand = ['--brand', service.brand.brandId, '--domain', service.brand.domain];
  const env = { REWARDS_CONTROL_TOKEN: service.ready.controlToken };
  const told = await rewardsJson([...args, ...brand], { env });
  expect(told.envelope.error.details.check).toMatchObject({ outcome: 'refused' });
  const untold = await rewardsJson([...args, ...brand]);
  expect([untold.code, untold.envelope.error.details.check]).toEqual([told.code, undefined]);
});

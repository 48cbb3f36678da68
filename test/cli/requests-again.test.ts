/** A kept request in a form that sends it again: run by what it is written for. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { programMissing } from '../kits/run/programs.ts';
import { rewards, rewardsJson, temporaryDirectory } from '../kits/service/cli.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const key = () => service.brand.apiKey;
const around = (env: Record<string, string> = {}) => ({
  env: { REWARDS_CONTROL_TOKEN: service.ready.controlToken, ...env },
});
const at = () => ['--target', service.ready.urls.events];
const cli = (...args: string[]) => rewards([...args, ...at()], around());
const latest = async () =>
  (await rewardsJson(['requests', 'show', 'latest', ...at()], around())).envelope.data.body;

/** The service answers from this process, which must not wait for the shell. */
async function shell(line: string, env: Record<string, string> = {}) {
  const child = spawn('sh', ['-c', line], { env: { ...process.env, ...env } });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  const [code] = await once(child, 'close');
  const [head = '', ...body] = out.split('\r\n\r\n');
  return { code, status: Number(/^HTTP\/\S+ (\d+)/.exec(head)?.[1]), body: body.join('\r\n\r\n') };
}

const withKey = () => ({ authorization: `Bearer ${key()}` });
const keyed = (userEmail: string) => service.event({ userEmail, domain: undefined }, withKey());

describe.skipIf(programMissing('curl'))('show --as curl', () => {
  test('with the key in a variable: the line runs once the variable is set, and not before', async () => {
    await keyed(someone());
    const { stdout } = await cli('requests', 'show', 'latest', '--as', 'curl');
    expect(stdout).toContain('-H "authorization: Bearer $REWARDS_API_KEY"');
    expect(stdout).not.toContain(key());
    expect(await shell(stdout, { REWARDS_API_KEY: key() })).toMatchObject({ code: 0, status: 409 });
    expect(await latest()).toMatchObject({ credential: 'key', withBrandKey: true });
    expect(await shell(stdout, { REWARDS_API_KEY: 'none' })).toMatchObject({ code: 0 });
    expect(await latest()).toMatchObject({ credential: 'key', withBrandKey: false });
  });

  test('--with-secrets: the line runs as it stands', async () => {
    await keyed(someone());
    const printed = await rewards(
      ['requests', 'show', 'latest', '--as', 'curl', '--with-secrets', ...at()],
      around({ REWARDS_API_KEY: key() }),
    );
    expect(printed.stdout).toContain(key());
    expect(await shell(printed.stdout)).toMatchObject({ code: 0, status: 409 });
    const alone = await cli('requests', 'show', 'latest', '--with-secrets');
    expect(alone).toMatchObject({ code: exitCodes.usage, stderr: expect.stringContaining('--as curl') });
    const unknown = await cli('requests', 'show', 'latest', '--as', 'curl', '--with-secrets');
    expect(unknown).toMatchObject({
      code: exitCodes.precondition,
      stderr: expect.stringContaining('Set REWARDS_API_KEY'),
    });
  });

  test('the key of idempotency goes with it: the same answer comes again', async () => {
    const first = await service.event({ userEmail: someone() }, { 'idempotency-key': 'order-1' });
    const { stdout } = await cli('requests', 'show', 'latest', '--as', 'curl');
    const again = await shell(stdout);
    expect(again.status).toBe(200);
    expect(JSON.parse(again.body)).toEqual(first.body);
  });

  test("a relayed call: its token is a variable, or a new one of the wallet's user", async () => {
    const [alice] = service.ready.users;
    const token = (await cli('token', 'issue', '--user', alice?.email ?? '')).stdout.trim();
    const call = { userAddress: alice?.address, to: service.ready.contracts.token, data: '0x' };
    const refused = await service.post('/relay', call, { authorization: `Bearer ${token}` });
    const plain = await cli('requests', 'show', 'latest', '--as', 'curl');
    expect(plain.stdout).toContain('Bearer $REWARDS_USER_TOKEN"');
    expect(plain.stdout).not.toContain(token);
    const shown = await cli('requests', 'show', 'latest', '--as', 'curl', '--with-secrets');
    expect(shown.stdout).toMatch(/Bearer eyJ/);
    const again = await shell(shown.stdout);
    expect(again.status).toBe(refused.status);
    expect(JSON.parse(again.body).code).toBe(refused.body.code);
  });
});

test('show --as curl: a body that was refused as such is not there to be sent: exit 5, and why', async () => {
  const refused = await service.post('/rewards-api/manual-event', { text: 'x'.repeat(11_000) });
  expect(refused.status).toBe(413);
  const printed = await cli('requests', 'show', 'latest', '--as', 'curl');
  expect(printed).toMatchObject({ code: exitCodes.precondition, stdout: '' });
  expect(printed.stderr).toContain('its body was refused as such');
});

test('show --as http: an entry of an .http file, which does the same again', async () => {
  await keyed(someone());
  const { stdout } = await cli('requests', 'show', 'latest', '--as', 'http');
  const [head = '', body] = stdout.trimEnd().split('\n\n');
  const [line = '', ...fields] = head.replaceAll('{{REWARDS_API_KEY}}', key()).split('\n');
  const [method = '', url = ''] = line.split(' ');
  const headers = Object.fromEntries(fields.map((field) => field.split(/: (.*)/).slice(0, 2)));
  const answer = await fetch(url, { method, headers, body: body ?? null });
  expect(answer.status).toBe(409);
  expect(await latest()).toMatchObject({ credential: 'key', host: 'events', status: 409 });
});

test('show --as scenario: a step of a scenario, which does the same again', async () => {
  const order = '0b9a6a52-9d33-4c1a-9f0e-6a2f6d2c7b11';
  const headers = { ...withKey(), 'idempotency-key': order };
  await service.event({ userEmail: 'gina@demo.example', eventType: 'form_submit' }, headers);
  const { stdout } = await cli('requests', 'show', 'latest', '--as', 'scenario');
  expect(stdout).toMatch(/^- event:\n {4}type: form_submit\n {4}user: gina@demo.example\n/);
  expect(stdout).toContain(`idempotencyKey: \${uuid()}`);
  expect(stdout).toContain('brandKey: true');
  for (const known of [key(), order, service.brand.brandId]) expect(stdout).not.toContain(known);
  const folder = await temporaryDirectory();
  const text = `version: 1\nname: one step\nsteps:\n${stdout.replaceAll(/^/gm, '  ')}`;
  await writeFile(join(folder.path, 'one.yaml'), text);
  const ran = await rewards(['scenario', 'run', 'one.yaml'], { cwd: folder.path });
  expect(ran, ran.stdout + text).toMatchObject({ code: exitCodes.done });
  await folder.remove();
  const secret = await cli('requests', 'show', 'latest', '--as', 'scenario', '--with-secrets');
  expect(secret.code).toBe(exitCodes.usage);
});

describe('what is kept', () => {
  test('no credential, no cookie, no secret field, in nothing that can be asked', async () => {
    const secrets = [
      key(),
      'hunter2secret',
      'abc.def.cookie',
      'sk_live_0123456789abcdef',
      'whsec_0123456789',
    ];
    const metadata = {
      password: 'hunter2secret',
      api_key: 'hunter2secret',
      nested: { clientSecret: 'hunter2secret' },
      note: `mine is sk_live_0123456789abcdef, and whsec_0123456789`,
      kept: 'gold',
    };
    const answer = await service.event(
      { userEmail: someone(), metadata },
      { ...withKey(), cookie: 'session=abc.def.cookie', 'x-secret': 'hunter2secret' },
    );
    expect(answer.status).toBe(200);
    await service.post(
      '/rewards-api/manual-event?password=hunter2secret&x=1',
      '{"p\\u0061ssword":"hunter2secret"}',
    );
    const escaped = await latest();
    expect(escaped).toMatchObject({ search: '?password=[redacted]&x=1', requestBodyKept: 'redacted' });
    const said = await Promise.all([
      cli('requests', 'list', '-o', 'json'),
      ...['', 'json'].map((form) =>
        cli('requests', 'show', answer.headers.get('x-request-id') ?? '', ...(form ? ['-o', 'json'] : [])),
      ),
      cli('requests', 'show', 'latest', '-o', 'json'),
      cli('requests', 'show', 'latest', '--as', 'curl'),
      cli('requests', 'explain', 'latest', '-o', 'json'),
    ]);
    for (const { stdout, code } of [...said, { stdout: JSON.stringify(escaped), code: 0 }]) {
      expect(code).toBe(exitCodes.done);
      for (const secret of secrets) expect(stdout).not.toContain(secret);
    }
    const shown = said[1]?.stdout ?? '';
    expect(shown).toContain('"kept": "gold"');
    expect(shown).toContain('"password": "[redacted]"');
    expect(shown).toContain('kept without the secrets in it');
    expect(said[4]?.stderr).toContain('fill in what is [redacted]');
  });

  test('a text without a secret is kept to the last space', async () => {
    const text = '{ "userEmail":"x@demo.example",  "eventType" : "none" }';
    await service.post('/rewards-api/manual-event', text);
    expect(await latest()).toMatchObject({ requestBody: text, requestBodyKept: 'whole' });
    await service.request('/rewards-api/health');
    expect(await latest()).toMatchObject({ requestBody: null, requestBodyKept: 'none' });
  });

  test('a page is kept up to 256 KB, and what is no text not at all', async () => {
    const script = await (await fetch(`${service.ready.urls.events}/sdk.js`)).text();
    const { responseBody } = await latest();
    expect(responseBody.length).toBeLessThanOrEqual(256 * 1024 + 30);
    expect(responseBody.slice(0, 100)).toBe(script.slice(0, 100));
  });

  test('each request with the host that answered it', async () => {
    await service.request('/rewards-api/health');
    await service.request(`/leaderboard/${service.brand.brandId}`);
    await service.post('/relay', {});
    await service.post('/rewards-api/pregenerate-user', {});
    const hosts = async (...more: string[]) =>
      (await rewardsJson(['requests', 'list', '-n', '4', ...more, ...at()], around())).envelope.data.body
        .requests as { host: string; path: string }[];
    expect((await hosts()).map(({ host }) => host)).toEqual(['register', 'relay', 'services', 'events']);
    for (const host of ['register', 'relay', 'services', 'events'])
      expect(new Set((await hosts('--host', host)).map((one) => one.host))).toEqual(new Set([host]));
    const wrong = await cli('requests', 'list', '--host', 'nowhere');
    expect(wrong).toMatchObject({ code: exitCodes.refused, stderr: expect.stringContaining('services') });
    expect((await service.request(`${service.ready.urls.control}/requests?host=nowhere`)).status).toBe(400);
  });
});

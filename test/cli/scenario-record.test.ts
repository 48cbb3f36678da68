/** A session on a running stack becomes a scenario that passes: `scenario record`. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { rewards, serveHere, startHere, temporaryDirectory } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';

// The recorded files run on stacks of their own.
vi.setConfig({ testTimeout: 120_000 });

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let stack: Awaited<ReturnType<typeof serveHere>>;
beforeAll(async () => {
  folder = await temporaryDirectory();
  stack = await serveHere(['--port', '0', '--ephemeral'], { cwd: folder.path });
});
afterAll(async () => {
  await stack.stop();
  await folder.remove();
});

const here = (env: Record<string, string> = {}) => ({ cwd: folder.path, env });
const cli = (...args: string[]) => rewards(args, here());
const file = (name: string) => readFile(join(folder.path, name), 'utf8');

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(stack.ready.urls.events + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test('an event, a duplicate, the clock moved, the cooldown passed: recorded until Ctrl-C, and it passes', async () => {
  const [brand] = stack.ready.brands;
  await cli('send-event', 'form_submit', '--user', 'before@demo.example');
  const recording = startHere(['scenario', 'record', 'session.yaml', '--title', 'a session'], here());
  await until('it to record', () => recording.stderr().includes('recording'));
  const event = { brandId: brand.brandId, domain: brand.domain, eventType: 'rate_experience' };
  const userEmail = 'erin@demo.example';
  expect((await post('/rewards-api/manual-event', { ...event, userEmail })).status).toBe(200);
  expect((await post('/rewards-api/manual-event', { ...event, userEmail })).status).toBe(409);
  await cli('clock', 'advance', '61s');
  expect((await post('/rewards-api/manual-event', { ...event, userEmail })).status).toBe(429);
  await cli('clock', 'advance', '1h');
  const key = {
    authorization: `Bearer ${brand.apiKey}`,
    'idempotency-key': '0b9a6a52-9d33-4c1a-9f0e-6a2f6d2c7b11',
  };
  const again = await post('/rewards-api/manual-event', { ...event, userEmail }, key);
  expect(again.status).toBe(200);
  expect((await post('/rewards-api/manual-event', { ...event, userEmail }, key)).body).toEqual(again.body);
  const shown = await fetch(`${stack.ready.urls.events}/rewards-api/events/${again.body.eventId}`);
  expect(shown.status).toBe(200);
  recording.signal('SIGINT');
  expect(await recording.ended).toBe(exitCodes.done);
  expect(recording.stdout()).toMatch(/^session\.yaml {2}\d+ steps\n/);

  const text = await file('session.yaml');
  expect(text).toContain('name: a session');
  expect(text).toMatch(/clock:\n +start: 20/);
  // With the seconds that the requests themselves took.
  expect(text).toMatch(/advance: 1m[1-9]\d*s\n/);
  expect(text).toMatch(/advance: 1h(\d+s)?\n/);
  expect(text).toContain(`user: \${vars.user1}`);
  expect(text).toContain('user1: erin@demo.example');
  expect(text).toContain(`idempotencyKey: \${vars.id1}`);
  expect(text).toMatch(/path: \/rewards-api\/events\/\$\{steps\.step\d+\.body\.eventId\}/);
  expect(text).toMatch(/decision: cooldown/);
  for (const secret of [brand.apiKey, stack.ready.controlToken, 'before@demo.example'])
    expect(text).not.toContain(secret);

  expect(await cli('scenario', 'lint', 'session.yaml')).toMatchObject({ code: exitCodes.done });
  const ran = await cli('scenario', 'run', 'session.yaml');
  expect(ran, ran.stdout + ran.stderr + text).toMatchObject({ code: exitCodes.done });

  const wrong = text.replace('decision: cooldown', 'decision: duplicate');
  await writeFile(join(folder.path, 'wrong.yaml'), wrong);
  expect((await cli('scenario', 'run', 'wrong.yaml')).code).toBe(exitCodes.refused);
});

test('--since takes what was there already; a file is not replaced unasked', async () => {
  await cli('clock', 'advance', '2h');
  await cli('send-event', 'form_submit', '--user', 'alice@demo.example');
  const recorded = await cli('scenario', 'record', 'since.yaml', '--since', '1h');
  expect(recorded).toMatchObject({ code: exitCodes.done, stdout: expect.stringMatching(/ {2}1 step\n/) });
  expect(await file('since.yaml')).toContain('type: form_submit');
  const second = await cli('scenario', 'record', 'since.yaml', '--all');
  expect(second).toMatchObject({ code: exitCodes.usage, stderr: expect.stringContaining('--force') });
  expect((await cli('scenario', 'record', 'since.yaml', '--since', '1h', '--force')).code).toBe(
    exitCodes.done,
  );
  expect(await cli('scenario', 'run', 'since.yaml')).toMatchObject({ code: exitCodes.done });
});

test('what cannot be recorded is named in the file; without a request there is no file', async () => {
  await cli('clock', 'advance', '2h');
  await post('/rewards-api/manual-event', { password: 'hunter2', userEmail: 'x@demo.example' });
  const none = await cli('scenario', 'record', 'none.yaml', '--since', '1h');
  expect(none).toMatchObject({
    code: exitCodes.refused,
    stderr: expect.stringContaining('no file was written'),
  });
  await post('/rewards-api/user-balance', {
    brandId: stack.ready.brands[0].brandId,
    userIdentifier: 'bob@demo.example',
  });
  expect((await cli('scenario', 'record', 'part.yaml', '--since', '1h')).code).toBe(exitCodes.done);
  const text = await file('part.yaml');
  expect(text).toContain(
    '# left out: POST /rewards-api/manual-event: its body was not kept as it was (redacted)',
  );
  expect(text).not.toContain('hunter2');
  expect(text).toContain(`brandId: \${brand.id}`);
  expect(await cli('scenario', 'run', 'part.yaml')).toMatchObject({ code: exitCodes.done });
});

test('a purchase and a relayed call: paid as it was paid, signed by the same user', async () => {
  await cli('clock', 'advance', '2h');
  const bought = await cli('checkout', 'create', '--amount', '500', '--user', 'bob@demo.example');
  expect(bought.code).toBe(exitCodes.done);
  expect((await cli('checkout', 'pay', 'latest')).code).toBe(exitCodes.done);
  await until('the service to hear of it', async () => {
    const listed = await cli('requests', 'list', '--path', 'payment-mint', '--status', '200');
    return listed.stdout.includes('payment-mint');
  });
  expect((await cli('send-event', 'form_submit', '--user', 'alice@demo.example')).code).toBe(exitCodes.done);
  const { token } = stack.ready.contracts;
  const [, bob] = stack.ready.users;
  const sent = await cli(
    ...['relay', 'token', 'transferWithAuthorization', 'me', bob.address, '1', '--as', 'alice'],
  );
  expect(sent, sent.stderr).toMatchObject({ code: exitCodes.done });
  const refused = await cli('relay', '--to', token, '--data', '0xdeadbeef', '--as', 'alice');
  expect(refused.code).toBe(exitCodes.refused);
  expect((await cli('scenario', 'record', 'money.yaml', '--since', '1h')).code).toBe(exitCodes.done);
  const text = await file('money.yaml');
  expect(text.match(/pay:\n/g)).toHaveLength(1);
  expect(text).toMatch(/pay:\n +session: \$\{steps\.step1\.body\.sessionId\}/);
  expect(text).toMatch(/relay:\n +as: alice@demo\.example\n +to: \$\{contracts\.token\}/);
  expect(text).not.toMatch(/whsec_|eyJ/);
  const ran = await cli('scenario', 'run', 'money.yaml');
  expect(ran, ran.stdout + ran.stderr + text).toMatchObject({ code: exitCodes.done });
});

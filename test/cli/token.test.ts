/** `rewards token` as a shell sees it, against a real stack. */
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { freePort } from '../kits/network/free-port.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

const USER = 'alice@demo.example';
let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
/** The issuer is at this address after a restart, too. */
let port: string;
const start = () =>
  serveHere(['--port', port, '--rpc-port', '0', '--persist-to', 'data'], { cwd: project.path });
const json = (...args: string[]) => rewardsJson(args, { cwd: project.path });

beforeAll(async () => {
  project = await temporaryDirectory();
  port = String(await freePort());
  stack = await start();
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

const getJson = async (url: string) => {
  const response = await fetch(url);
  return JSON.parse(await response.text());
};
const issuerUrl = () => `${new URL(stack.ready.urls.control).origin}/_idp`;
const decoded = async (token: string) => (await json('token', 'decode', token)).envelope.data;

test('issue prints the token alone, or exactly token, address and expiry', async () => {
  const { code, stdout, stderr } = await rewards(['token', 'issue', '--user', USER], { cwd: project.path });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);

  const { envelope } = await json('token', 'issue', '--user', ' Alice@DEMO.example', '--expires', '15m');
  expect(Object.keys(envelope.data).sort()).toEqual(['address', 'expiresAt', 'token']);
  expect(envelope.data.address).toBe(stack.ready.users[0].address);
  const leftMs = Date.parse(envelope.data.expiresAt) - Date.now();
  expect(Math.abs(leftMs - 900_000)).toBeLessThan(30_000);
});

test('the token holds for anyone who reads discovery and keys', async () => {
  const { envelope } = await json('token', 'issue', '--user', USER);
  const discovery = await getJson(`${issuerUrl()}/.well-known/openid-configuration`);
  expect(discovery).toMatchObject({ issuer: issuerUrl(), jwks_uri: `${issuerUrl()}/jwks` });
  const { keys } = await getJson(discovery.jwks_uri);
  expect(Object.keys(keys[0]).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  const { payload, protectedHeader } = await jwtVerify(
    envelope.data.token,
    createRemoteJWKSet(new URL(discovery.jwks_uri)),
    { issuer: issuerUrl(), audience: 'rewards', requiredClaims: ['exp', 'iat', 'sub', 'jti'] },
  );
  expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
  expect(payload).toMatchObject({ email: USER, email_verified: true, wallets: [envelope.data.address] });
});

test('a user without a wallet gets one, once', async () => {
  const [first, second] = await Promise.all(
    [1, 2].map(() => json('token', 'issue', '--user', 'newcomer@people.example')),
  );
  expect(first?.envelope.data.address).toMatch(/^0x[0-9a-fA-F]{40}$/);
  expect(second?.envelope.data.address).toBe(first?.envelope.data.address);
});

describe('decode', () => {
  test('explains a token that is taken', async () => {
    const { token, address, expiresAt } = (await json('token', 'issue', '--user', USER)).envelope.data;
    expect(await decoded(token)).toMatchObject({
      header: { alg: 'ES256', typ: 'at+jwt' },
      claims: { iss: issuerUrl(), aud: 'rewards', email: USER },
      expiresAt,
      expired: false,
      verifies: true,
      reason: null,
      user: { email: USER, wallets: [address.toLowerCase()] },
    });
    const piped = await rewards(['token', 'decode', '-'], { cwd: project.path, stdin: `Bearer ${token}\n` });
    expect(piped.stdout).toMatch(/alg +ES256/);
    expect(piped.stdout).toMatch(/expires {3}\S+ {2}in (59m|1h)/);
    expect(piped.stdout).toMatch(/verifies {2}yes, as alice@demo\.example/);
  });

  test('tells why another is not', async () => {
    const { token } = (await json('token', 'issue', '--user', USER, '--audience', 'other')).envelope.data;
    expect(await decoded(token)).toMatchObject({ verifies: false, reason: 'audience', expired: false });
    const [header, claims] = token.split('.');
    expect(await decoded(`${header}.${claims}.AAAA`)).toMatchObject({ verifies: false, reason: 'signature' });
    const steering = Buffer.from('{"sub":"\\u001b[2Jx"}').toString('base64url');
    const shown = await rewards(['token', 'decode', `${header}.${steering}.AAAA`], { cwd: project.path });
    expect(shown.stdout).toContain('\\u001b[2Jx');
    expect(shown.stdout).not.toContain('\u001b[2J');
  });

  test('works without a stack', async () => {
    const elsewhere = await temporaryDirectory();
    const token = `${[{ alg: 'HS256' }, { sub: 'x' }].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.AAAA`;
    const finished = await rewardsJson(['token', 'decode', token], { cwd: elsewhere.path });
    expect(finished.envelope).toMatchObject({
      ok: true,
      data: { claims: { sub: 'x' }, expiresAt: null, expired: null, verifies: null },
    });
    expect(finished.stderr).toMatch(/no emulator/);
    await elsewhere.remove();
  });

  test.each(['x', 'a.b', 'a.b.c', 'e30.bnVsbA.x', ''])('refuses %j', async (text) => {
    const { code, envelope } = await json('token', 'decode', text);
    expect([code, envelope.error.code]).toEqual([exitCodes.usage, 'E_USAGE']);
  });
});

test.each([
  [['--user', 'nobody']],
  [['--user', USER, '--expires', '31d']],
  [['--user', USER, '--expires', '1ms']],
  [['--user', USER, '--audience', '']],
])('issue %j is refused', async (args) => {
  const { code, envelope } = await json('token', 'issue', ...args);
  expect([code, envelope.error.code]).toEqual([exitCodes.refused, 'E_REFUSED']);
});

test('a length of time that is none, and a user that is missing, are usage', async () => {
  for (const args of [['--user', USER, '--expires', 'soon'], []]) {
    expect((await json('token', 'issue', ...args)).code).toBe(exitCodes.usage);
  }
});

test('without the control token nothing is issued, verified or changed', async () => {
  for (const path of ['', '/verify', '/rotate-keys']) {
    const answer = await fetch(`${stack.ready.urls.control}/tokens${path}`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(401);
  }
});

test('tokens end by the clock of the emulator', async () => {
  const { token } = (await json('token', 'issue', '--user', USER, '--expires', '1h')).envelope.data;
  await json('clock', 'advance', '59m');
  expect(await decoded(token)).toMatchObject({ verifies: true });
  await json('clock', 'advance', '2m');
  expect(await decoded(token)).toMatchObject({ verifies: false, reason: 'expired', expired: true });
});

test('new keys are taken at once, earlier ones until they are revoked, and all outlive a restart', async () => {
  const issue = async () =>
    (await json('token', 'issue', '--user', USER, '--expires', '10d')).envelope.data.token;
  const before = await issue();
  const rotated = (await json('token', 'rotate-keys')).envelope.data;
  const after = await issue();
  expect(rotated.published).toHaveLength(2);
  expect((await decoded(after)).header.kid).toBe(rotated.keyId);
  for (const token of [before, after]) expect(await decoded(token)).toMatchObject({ verifies: true });

  await stack.stop();
  stack = await start();
  for (const token of [before, after]) expect(await decoded(token)).toMatchObject({ verifies: true });

  expect((await json('token', 'rotate-keys', '--revoke')).envelope.data.published).toHaveLength(1);
  for (const token of [before, after]) {
    expect(await decoded(token)).toMatchObject({ verifies: false, reason: 'unknown_key' });
  }
  expect(await decoded(await issue())).toMatchObject({ verifies: true });
  const health = await getJson(`${stack.ready.urls.events}/rewards-api/health`);
  expect(health.services.idp).toBe('connected');
});

/** `rewards constraint-updater`, the brand's own host for invalidations, before a real stack. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveHere, startHere, temporaryDirectory } from '../kits/service/cli.ts';

const API_URL = 'https://api.demo.example/eligible';
let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const undo: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--port', '0', '--ephemeral'], { cwd: project.path });
  await writeFile(join(project.path, 'caller-key'), 'a-key-of-our-own\n');
  await writeFile(join(project.path, 'wrong-key'), 'rk_dev_wrong_AbCdEfGhJkMnPqRsTuVwXyZ23456789\n');
});
afterAll(async () => {
  for (const one of undo) await one();
  await stack?.stop();
  await project?.remove();
});

async function updater(...more: string[]) {
  const args = ['constraint-updater', '--port', '0', '--forward-to', stack.ready.urls.events, '-o', 'json'];
  const run = startHere([...args, ...more], { cwd: project.path });
  const ready = JSON.parse(await run.nextLine());
  undo.push(async () => {
    run.signal('SIGTERM');
    expect(await run.ended).toBe(0);
  });
  return async (body: unknown, headers: Record<string, string> = {}, path = '/invalidate-external-api') => {
    const init = { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
    const response = await fetch(`${ready.url}${path}`, init);
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
}

test("passes an invalidation on with the brand's key, and the service's answers back", async () => {
  const send = await updater();
  expect(await send({ api_url: API_URL })).toEqual({
    status: 200,
    body: { success: true, message: 'Invalidated 0 results', invalidated_count: 0 },
  });
  expect(await send({})).toMatchObject({
    status: 400,
    body: { success: false, error: 'Missing required field: api_url' },
  });
  expect(await send('x'.repeat(20_000))).toMatchObject({ status: 413, body: { success: false } });
  expect(await send({}, {}, '/elsewhere')).toMatchObject({ status: 404, body: { success: false } });
});

test('asks its callers for a key where it has one', async () => {
  const send = await updater('--caller-key-file', 'caller-key');
  expect(await send({ api_url: API_URL })).toMatchObject({ status: 401, body: { success: false } });
  expect(await send({ api_url: API_URL }, { authorization: 'Bearer wrong' })).toMatchObject({ status: 401 });
  const own = { authorization: 'Bearer a-key-of-our-own' };
  expect(await send({ api_url: API_URL }, own)).toMatchObject({ status: 200, body: { success: true } });
});

test("a key of its own that the service refuses is not the caller's fault", async () => {
  const send = await updater('--api-key-file', 'wrong-key');
  expect(await send({ api_url: API_URL })).toMatchObject({ status: 502, body: { success: false } });
});

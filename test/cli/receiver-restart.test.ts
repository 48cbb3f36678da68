/** The receiver, as a process of its own, between events and a service that is killed and comes back. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../kits/network/free-port.ts';
import { rewardsJson, serve, startProcess, temporaryDirectory } from '../kits/service/cli.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  project = await temporaryDirectory();
});
afterAll(() => project.remove());

const json = (...args: string[]) => rewardsJson(args, { cwd: project.path });
// On a clock that stands still the service never looks after sessions by itself.
const start = (port: string) =>
  serve(['--port', port, '--rpc-port', '0', '--persist-to', 'data', '--freeze'], { cwd: project.path });

test('an event that comes while payment-mint is dead is left to the processor; after the restart it mints, once', async () => {
  const port = String(await freePort());
  let stack = await start(port);
  const { urls, processor } = stack.ready;
  const created = await json(...['checkout', 'create', '--amount', '500', '--user', 'buyer@people.example']);
  expect(created.envelope.ok).toBe(true);
  await json('checkout', 'pay', 'latest', '--no-webhook');
  const listed = await json('webhooks', 'list', '--type', 'checkout.session.completed');
  const [{ id }] = listed.envelope.data.events;
  await writeFile(join(project.path, 'event.json'), (await json('webhooks', 'show', id)).stdout);

  const address = ['--forward-to', urls.events, '--secret', processor.webhookSecret];
  const receiver = startProcess(
    ['receiver', '--port', '0', '--no-register', '--retry-delays', '1ms,1ms', ...address, '-o', 'json'],
    { cwd: project.path },
  );
  const { url } = JSON.parse(await receiver.nextLine());
  const replay = (...more: string[]) =>
    json(
      ...['webhooks', 'replay', '--from', 'event.json', '--to', url],
      '--secret',
      processor.webhookSecret,
      ...more,
    );

  await stack.stop('SIGKILL');
  const dead = await replay('--expect-effects', 'none');
  expect(dead.envelope.data).toMatchObject({ deliveries: [{ status: 503 }], effects: { mints: 0 } });

  stack = await start(port);
  const alive = await replay('--times', '3', '--concurrency', '3', '--expect-effects', '1');
  expect(alive.envelope.error).toBeUndefined();
  expect(alive.envelope.data).toMatchObject({
    deliveries: [{ status: 200 }, { status: 200 }, { status: 200 }],
    effects: { measured: 'chain', deliveries: 3, mints: 1, mintedBefore: 0, mintedTwice: [] },
  });
  expect(await receiver.stop()).toEqual({ code: 0, signal: null });
  await stack.stop();
});

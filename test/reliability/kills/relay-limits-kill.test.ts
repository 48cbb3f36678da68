/** contract: Limits, Relay transactions: a window outlives the process that opened it. */
import { afterEach, expect, test } from 'vitest';
import { relayKitOf } from '../../kits/chain/wallet.ts';
import { serve, temporaryDirectory } from '../../kits/service/cli.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
}, 30_000);

test('the hour is kept through SIGKILL and a restart', async () => {
  const { path: cwd, remove } = await temporaryDirectory();
  stops.push(remove);
  const first = await serve(['--port', '0', '--persist-to', 'data'], { cwd });
  let kit = await relayKitOf(first.ready);
  const buy = () => kit.relay(kit.users.alice, kit.purchase(kit.users.alice.address));
  for (let sent = 0; sent < 30; sent++) expect((await buy()).status).toBe(200);
  await first.stop('SIGKILL');
  const second = await serve(['--port', '0', '--persist-to', 'data'], { cwd });
  stops.push(() => second.stop());
  kit = await relayKitOf(second.ready);
  const statuses = [];
  for (let sent = 0; sent < 7; sent++) statuses.push((await buy()).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
}, 90_000);

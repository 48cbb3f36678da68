/** A restore that is killed leaves the old data or the new; a save that is killed leaves what was saved before. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { delay } from '../../../src/lib/timers.ts';
import { commandsIn, serve, serveHere, temporaryDirectory } from '../../kits/service/cli.ts';
import { until } from '../../kits/service/clock.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(() => project.remove());

const PORTS = ['--port', '0', '--rpc-port', '0'];
const { here, json, event } = commandsIn(() => project);
/** A kill may take the last blocks with it: their transactions are sent again. */
const sound = () => until('ledger and chain agree', async () => (await here('verify')).code === 0);

test.each([5, 60, 250, 600])(
  'killed %i ms into a restore: the old data or the new, and no difference',
  async (ms) => {
    const stack = await serve(PORTS, { cwd: project.path });
    expect((await event('alice')).code).toBe(0);
    expect((await here('snapshot', 'save', 'base')).code).toBe(0);
    expect((await event('bob')).code).toBe(0);
    const restoring = fetch(`${stack.ready.urls.control}/restore`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.ready.controlToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'base' }),
    }).catch(() => undefined);
    await delay(ms);
    await stack.stop('SIGKILL');
    await restoring;

    const again = await serveHere(PORTS, { cwd: project.path });
    await sound();
    expect((await event('alice')).code).toBe(1);
    const rewarded = (await event('bob')).code;
    expect([0, 1]).toContain(rewarded);
    expect((await here('snapshot', 'restore', 'base')).code).toBe(0);
    expect((await event('bob')).code).toBe(0);
    await sound();
    await again.stop();
  },
  60_000,
);

test.each([0, 4, 12])(
  'killed %i ms into a save: what was saved before is there, and nothing half',
  async (ms) => {
    const stack = await serve(PORTS, { cwd: project.path });
    expect((await event('alice')).code).toBe(0);
    expect((await here('snapshot', 'save', 'base')).code).toBe(0);
    expect((await event('bob')).code).toBe(0);
    const saving = ['base', 'second'].map((name) =>
      fetch(`${stack.ready.urls.control}/snapshot`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.ready.controlToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name, replace: true }),
      }).catch(() => undefined),
    );
    await delay(ms);
    await stack.stop('SIGKILL');
    await Promise.all(saving);

    const again = await serveHere(PORTS, { cwd: project.path });
    await sound();
    const { data } = await json('snapshot', 'list');
    expect(data.body.unreadable).toEqual([]);
    const names = data.body.snapshots.map(({ name }: { name: string }) => name);
    expect(names).toContain('base');
    for (const name of names) expect((await here('snapshot', 'restore', name)).code).toBe(0);
    expect((await event('alice')).code).toBe(1);
    await sound();
    await again.stop();
  },
  60_000,
);

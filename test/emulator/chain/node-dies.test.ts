/** The node of a running `serve` is killed: the stack goes on with the same chain, and says so in one line each way. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rewards, rewardsJson, serve, temporaryDirectory } from '../../kits/service/cli.ts';
import { processTable } from '../../kits/service/processes.ts';
import { clientOf } from '../../kits/service/service.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
let stack: Awaited<ReturnType<typeof serve>> | undefined;
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
  await project.remove();
});

/** Process ids of the nodes that a stack has started: its grandchildren, below the shell that guards them. */
function nodesOf(stackPid: number): number[] {
  const table = processTable();
  const guards = table.filter(({ parent }) => parent === stackPid).map(({ pid }) => pid);
  return table
    .filter(({ parent, command }) => guards.includes(parent) && /^\S*anvil /.test(command))
    .map(({ pid }) => pid);
}

const untilTrue = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000, interval: 100 });

test('a node that is killed is started again with every balance, and the next event is paid', async () => {
  stack = await serve(['--port', '0'], { cwd: project.path });
  const { ready, child, stderr } = stack;
  const { event, balanceOf, payouts } = clientOf(ready);
  const [alice, bob] = ready.users;
  expect((await event({ userEmail: alice.email })).status).toBe(200);
  const before = await balanceOf(alice.address);
  expect(before).toBeGreaterThan(0n);

  const [node, ...others] = nodesOf(child.pid ?? 0);
  expect(others).toEqual([]);
  process.kill(node ?? 0, 'SIGKILL');
  await event({ userEmail: bob.email });
  await untilTrue(async () => expect(await balanceOf(bob.address)).toBe(before));
  await untilTrue(async () => expect(await balanceOf(alice.address)).toBe(before));
  expect([...(await payouts()).values()]).toEqual([[before], [before]]);
  expect(nodesOf(child.pid ?? 0)).toHaveLength(1);

  const entries = stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  const about = entries.filter(({ message }) => /^the chain's node/.test(message));
  expect(about.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^the chain's node is away: /),
    expect.stringMatching(/^the chain's node is back after /),
  ]);
  expect(entries.filter(({ level }) => level === 'error')).toHaveLength(1);
  expect((await rewards(['verify'], { cwd: project.path })).stdout).toContain('ledger and chain agree');
  expect((await rewards(['doctor', 'stack'], { cwd: project.path })).code).toBe(0);
});

test('a chain in memory only is gone with its node: one line says so, and doctor calls the stack degraded', async () => {
  stack = await serve(['--port', '0', '--ephemeral'], { cwd: project.path });
  const { child, stderr } = stack;
  process.kill(nodesOf(child.pid ?? 0)[0] ?? 0, 'SIGKILL');
  await untilTrue(() => expect(stderr()).toContain('the chain of an ephemeral stack is gone with its node'));
  await untilTrue(async () => {
    const { code, envelope } = await rewardsJson(['doctor', 'stack'], { cwd: project.path });
    expect([code, envelope.data.findings[0].message]).toEqual([1, expect.stringMatching(/ is degraded$/)]);
  });
});

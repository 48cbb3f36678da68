/** A chain whose state is large: `serve` saves it and brings it back after a kill, without holding it in memory. */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createRpc } from '../../../src/chain/rpc/rpc.ts';
import { serve, temporaryDirectory } from '../../kits/service/cli.ts';

const MB = 2 ** 20;
/** Contracts without repetition in them, so that the node's compression gains nothing. */
const CONTRACTS = 24;
const CODE_BYTES = MB;
/** As many blocks as a checkpoint waits for. */
const BLOCKS = 1_000;

/**
 * What may come on top, as a part of the file: 1,000 blocks and what the collector leaves. A whole state as text is twice
 * its file, in several copies at a time.
 */
const PARTS_MAX = 2;

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
let stack: Awaited<ReturnType<typeof serve>> | undefined;
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
  await project.remove();
});

/** The largest resident memory that a process has had. */
function peakBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

const start = async () => {
  stack = await serve(['--port', '0', '--rpc-port', '0'], { cwd: project.path });
  const rpc = createRpc({ url: stack.ready.urls.rpc, timeoutMs: 60_000, answerMaxBytes: 16 * MB });
  return { rpc, pid: stack.child.pid ?? 0, child: stack.child };
};

const address = (index: number) => `0x${(0xc0de00 + index).toString(16).padStart(40, '0')}`;

async function checkpoints(): Promise<{ name: string; bytes: number }[]> {
  const folder = join(project.path, '.rewards', 'state', 'chain');
  const names = await readdir(folder).catch(() => []);
  return Promise.all(
    names
      .filter((name) => name.endsWith('.bin'))
      .map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size })),
  );
}

test.skipIf(!existsSync('/proc/self/status'))(
  'a state of 24 MB is saved and comes back after a kill, in a part of that memory',
  async () => {
    project = await temporaryDirectory();
    const { rpc, pid, child } = await start();
    const codes = Array.from({ length: CONTRACTS }, () => `0x${randomBytes(CODE_BYTES).toString('hex')}`);
    for (const [index, code] of codes.entries()) await rpc('anvil_setCode', [address(index), code]);
    const before = peakBytes(pid);
    await rpc('anvil_mine', [`0x${BLOCKS.toString(16)}`]);
    const found = await vi.waitFor(
      async () => {
        const large = (await checkpoints()).filter(({ bytes }) => bytes > (CONTRACTS * CODE_BYTES) / 2);
        expect(large).toHaveLength(1);
        return large;
      },
      { timeout: 120_000, interval: 100 },
    );
    const file = found[0]?.bytes ?? 0;
    expect(peakBytes(pid) - before).toBeLessThan(PARTS_MAX * file);

    child.kill('SIGKILL');
    await once(child, 'exit');
    const again = await start();
    const restored = peakBytes(again.pid);
    for (const [index, code] of codes.entries())
      expect((await again.rpc('eth_getCode', [address(index), 'latest'])) === code).toBe(true);
    const empty = await serve(['--port', '0', '--rpc-port', '0', '--ephemeral'], { cwd: project.path });
    const usual = peakBytes(empty.child.pid ?? 0);
    await empty.stop();
    expect(restored - usual).toBeLessThan(PARTS_MAX * file);
  },
);

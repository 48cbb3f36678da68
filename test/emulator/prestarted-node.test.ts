/** The node that `serve` starts before its program is loaded. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createRpc } from '../../src/chain/rpc/rpc.ts';
import { settings } from '../../src/compose/config.ts';
import { prestartNode } from '../../src/emulator/prestarted-node.ts';
import type { ServeConfig } from '../../src/emulator/serve-config.ts';
import { silentLog } from '../../src/lib/log.ts';

const folder = mkdtempSync(join(tmpdir(), 'rewards-early-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const config: ServeConfig = {
  bindAddress: '127.0.0.1',
  port: 0,
  portExplicit: false,
  splitHosts: false,
  ephemeral: true,
  dataDir: folder,
  rpcPort: 0,
  rpcPortExplicit: false,
  blockTimeSeconds: 0,
  seedFiles: [],
  frozen: false,
  log: silentLog,
};

test('belongs to the first stack that takes it, and begins at the time of the clock', async () => {
  const early = prestartNode({ ...config, clockStartMs: 1_900_000_000_000 });
  const node = await early?.take();
  if (!node) throw new Error('there is no node');
  try {
    expect(early?.take()).toBeUndefined();
    await early?.drop();
    const rpc = createRpc({ url: node.rpcUrl, ...settings.rpc });
    expect(await rpc('eth_getBlockByNumber', ['0x0', false])).toMatchObject({ timestamp: '0x713fb300' });
  } finally {
    await node.stop();
  }
});

test('ends when no stack takes it', async () => {
  const early = prestartNode(config);
  await early?.drop();
  expect(early?.take()).toBeUndefined();
});

test('is not started for a node of the developer, a snapshot, a database or data from before', () => {
  writeFileSync(join(folder, 'ledger.sqlite'), '');
  for (const change of [
    { rpcUrl: 'http://127.0.0.1:1' },
    { importFile: 'some.rewards' },
    { databaseUrl: 'postgres://127.0.0.1:1/x' },
    { ephemeral: false },
  ])
    expect(prestartNode({ ...config, ...change })).toBeUndefined();
});

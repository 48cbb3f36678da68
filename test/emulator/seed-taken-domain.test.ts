/** A fixture that gives a brand a domain which is another brand's in the ledger that is kept. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestService } from '../kits/service/service.ts';

test('the start is refused, naming the domain and both brands', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'rewards-seed-'));
  const owner = `0x${'c1'.repeat(20)}`;
  const second = `0x${'c2'.repeat(20)}`;
  try {
    const stack = await startTestService({ dataDir, ephemeral: false });
    const domains = ['wanted.example'];
    const created = await stack.control('/brands', { brandId: owner, name: 'First', domains });
    expect(created.status).toBe(201);
    await stack.stop();
    const fixture = join(dataDir, 'second.yaml');
    await writeFile(
      fixture,
      `brands:\n  - brandId: '${second}'\n    name: Second\n    domains: [wanted.example]\n    escrow: 10\n`,
    );
    const again = startTestService({ dataDir, ephemeral: false, seedFiles: [fixture] });
    await expect(again).rejects.toMatchObject({
      code: 'E_FIXTURE',
      message: expect.stringContaining(
        `gives wanted.example to brand ${second}; in this ledger it belongs to brand ${owner}`,
      ),
    });
    const as = await startTestService({ dataDir, ephemeral: false });
    await as.stop();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

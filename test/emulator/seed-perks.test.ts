/** A fixture's perks in a ledger that is kept. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestService } from '../kits/service/service.ts';

test('a perk whose token is another perk in the ledger refuses the start, naming both', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'rewards-perks-'));
  const brandId = `0x${'c2'.repeat(20)}`;
  const perkId = '7d1a3d32-7f0e-4f5e-9f0b-4d1b1d1a0001';
  try {
    const stack = await startTestService({ dataDir, ephemeral: false });
    await stack.stop();
    const fixture = join(dataDir, 'second.yaml');
    const perk = `{ id: ${perkId}, tokenId: 1, name: Cap, category: physical, cost: 5 }`;
    await writeFile(
      fixture,
      `brands:\n  - brandId: '${brandId}'\n    name: Second\n    domains: [second.example]\n    perks:\n      - ${perk}\n`,
    );
    const again = startTestService({ dataDir, ephemeral: false, seedFiles: [fixture] });
    await expect(again).rejects.toMatchObject({
      code: 'E_FIXTURE',
      message: expect.stringMatching(
        `gives perk ${perkId} of brand ${brandId} token 1; in this ledger perk e1e181ae-.* has token 1`,
      ),
    });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

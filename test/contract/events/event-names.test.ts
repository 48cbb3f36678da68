/** Contract: GET event-config says by which other names a brand knows its events, where the fixture gives any. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../../kits/service/service.ts';

const named = `0x${'d1'.repeat(20)}`;
const plain = `0x${'d2'.repeat(20)}`;
let folder: string;
let service: TestService;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rewards-names-'));
  const fixture = join(folder, 'names.yaml');
  const brand = (brandId: string, domain: string) =>
    `  - name: ${domain}\n    brandId: '${brandId}'\n    domains: [${domain}]\n    events: { visit: { reward: 1 } }\n`;
  await writeFile(
    fixture,
    `brands:\n${brand(named, 'named.example')}    eventNameMapping: { 'page:view': visit }\n${brand(plain, 'plain.example')}`,
  );
  service = await startTestService({ seedFiles: [fixture] });
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('contract: event-config, eventNameMapping where set', async () => {
  const config = (brandId: string) => service.request(`/rewards-api/event-config?brandId=${brandId}`);
  const { status, body } = await config(named);
  expect([status, body.eventNameMapping]).toEqual([200, { 'page:view': 'visit' }]);
  expect((await config(plain)).body).not.toHaveProperty('eventNameMapping');
});

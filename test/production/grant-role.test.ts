/** `rewards contracts grant|revoke`: by the admin's key, and as a transaction for its holder. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { type ProductionKit, startProductionKit } from '../kits/service/production.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

let kit: ProductionKit;
beforeAll(async () => {
  kit = await startProductionKit();
});
afterAll(() => kit.stop());

const fresh = `0x${'c3'.repeat(20)}`;
const env = () => kit.environment('sqlite:nothing');
const contracts = async (...args: string[]) => {
  const { code, envelope } = await rewardsJson(['contracts', ...args], { env: env() });
  return { code, data: envelope.data, error: envelope.error };
};
/** Whether `contracts show` misses the relay role of an account. */
const lacks = async (account: string) => {
  const { data } = await contracts('show', '--relay-account', account);
  return data.needs.find(({ for: work }: { for: string }) => work === 'relay');
};

test('what is missing is shown with the line that grants it; granted, revoked, and each once', async () => {
  const missing = await lacks(fresh);
  expect(missing).toMatchObject({ met: false });
  expect(missing.fix).toContain(`\`rewards contracts grant perks.RELAYER_ROLE ${fresh} --key-file FILE\``);

  const key = await kit.secretFile(kit.keys.admin);
  const granted = await contracts('grant', 'perks.RELAYER_ROLE', fresh, '--key-file', key);
  expect(granted).toMatchObject({ code: 0, data: { sent: { hash: expect.stringMatching(/^0x/) } } });
  expect((await lacks(fresh)).met).toBe(true);
  expect(await contracts('grant', 'RELAYER_ROLE', fresh, '--key-file', key)).toMatchObject({
    code: 0,
    data: { sent: null },
  });
  expect((await contracts('revoke', 'RELAYER_ROLE', fresh, '--key-file', key)).data.sent.hash).toMatch(/^0x/);
  expect((await lacks(fresh)).met).toBe(false);
});

test('a plan sends nothing, and what it prints can be sent as it stands', async () => {
  const { code, stdout } = await rewards(['contracts', 'grant', 'RELAYER_ROLE', fresh, '--plan'], {
    env: env(),
  });
  expect(code).toBe(0);
  expect((await lacks(fresh)).met).toBe(false);
  const line = stdout.split('\n').find((one) => one.startsWith('rewards contracts send ')) ?? '';
  const key = await kit.secretFile(kit.keys.admin);
  const args = line.replace('FILE', key).split(' ').slice(1);
  expect((await rewards(args, { env: env() })).code).toBe(0);
  expect((await lacks(fresh)).met).toBe(true);
});

test('refused: a role of two contracts, of none, the admin’s, a stranger’s key', async () => {
  for (const role of ['REDEEMER_ROLE', 'PAINTER_ROLE', 'perks.ADMIN'])
    expect(await contracts('grant', role, fresh)).toMatchObject({
      code: 2,
      error: { code: 'E_USAGE', hint: expect.stringContaining('perks.REDEEMER_ROLE') },
    });
  expect(await contracts('grant', 'RELAYER_ROLE', 'nobody')).toMatchObject({ code: 2 });
  const key = await kit.secretFile(kit.keys.mint);
  const stranger = await contracts('grant', 'escrow.DISTRIBUTOR_ROLE', fresh, '--key-file', key);
  expect(stranger).toMatchObject({
    code: 5,
    error: { code: 'E_PROD_ROLE', message: expect.stringMatching(/is not admin of the escrow/) },
  });
});

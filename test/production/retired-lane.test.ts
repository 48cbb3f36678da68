/** A payout key that is replaced: the old account's figures end, and once it is retired, nobody looks at what it sends. */
import { createWalletClient, http, parseEther, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { businessEscrowAbi } from '../../src/chain/contracts/abis.ts';
import { roleId } from '../../src/chain/contracts/deployment-steps.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  productionOf,
  sqliteLedger,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let kit: ProductionKit;
let ledger: string;
beforeAll(async () => {
  kit = await startProductionKit();
  ledger = await sqliteLedger(kit.folder, 'retired');
});
afterAll(() => kit.stop());
const { start, refused, agrees } = productionOf(() => kit);

const finality = { REWARDS_FINALITY_BLOCKS: '3' };

async function retire(account: string, ...more: string[]) {
  const args = ['lane', 'retire', account, '--by', 'Kim', '--reason', 'replaced', '--allow-sqlite', ...more];
  const { code, envelope } = await rewardsJson(args, { env: kit.environment(ledger, finality) });
  return { code, message: envelope.error?.message, data: envelope.data };
}

test('from the old key to the new one, and what a thief of the old one does', async () => {
  const old = kit.accounts.payout.address;
  const fresh = generatePrivateKey();
  const { address } = privateKeyToAccount(fresh);
  const lease = (lane: string) => `rewards_lane_lease_seconds{lane="${lane}",purpose="payout"}`;

  const first = await start(ledger, finality);
  expect((await first.event({ brandId, userEmail: 'a@people.example' })).status).toBe(200);
  await until('the figure of its lane', async () => (await first.metric(lease(old))) !== undefined);
  await first.stop();
  // Its transaction is in a block that is not final.
  expect(await retire(old, '--yes')).toMatchObject({
    code: 1,
    message: expect.stringMatching(/^1 transactions of .* not final/),
  });

  const admin = createWalletClient({ account: kit.accounts.admin, transport: http(kit.anvil.url) });
  await admin.writeContract({
    chain: null,
    address: kit.contracts.escrow,
    abi: businessEscrowAbi,
    functionName: 'grantRole',
    args: [roleId('DISTRIBUTOR_ROLE'), address],
  });
  await kit.rpc('anvil_setBalance', [address, toHex(parseEther('100'))]);
  const own = { ...finality, REWARDS_PAYOUT_KEY: fresh };
  const second = await start(ledger, own);
  expect((await second.event({ brandId, userEmail: 'b@people.example' })).status).toBe(200);
  await until('the figure of the new lane', async () => (await second.metric(lease(address))) !== undefined);
  for (let blocks = 0; blocks < 6; blocks++) await kit.rpc('evm_mine', []);
  await until('no figure of the old lane', async () => (await second.metric(lease(old))) === undefined);
  expect(await second.metric(lease(address))).toBeGreaterThan(-10);
  await second.stop();

  expect(await retire(old)).toMatchObject({
    code: 1,
    message: `Nothing was changed: ${old} would be retired for good.`,
  });
  expect(await retire(`0x${'9'.repeat(40)}`, '--yes')).toMatchObject({
    code: 1,
    message: expect.stringMatching(/not sent anything/),
  });
  expect(await retire(kit.accounts.relay.address, '--yes')).toMatchObject({ code: 1 });
  expect(await retire(old, '--yes')).toMatchObject({
    code: 0,
    data: { lane: old, by: 'Kim', reason: 'replaced' },
  });
  expect(await retire(old, '--yes')).toMatchObject({
    code: 1,
    message: expect.stringMatching(/^Kim retired it at 20/),
  });

  const thief = createWalletClient({ account: kit.accounts.payout, transport: http(kit.anvil.url) });
  await thief.sendTransaction({ chain: null, to: old, value: 1n });
  const third = await start(ledger, own);
  expect((await third.event({ brandId, userEmail: 'c@people.example' })).status).toBe(200);
  await third.stop();
  await agrees(ledger, own);
  const again = await refused(ledger, finality);
  expect([again.code, again.error.code]).toEqual([5, 'E_PROD_RETIRED_KEY']);
  expect(again.error.message).toContain(`the payout account ${old} was retired by Kim: replaced`);
});

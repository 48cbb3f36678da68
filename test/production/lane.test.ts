/** Tokens on the relay account, and an operator who sends past the service: nothing stays stopped. */
import { createWalletClient, encodeFunctionData, type Hex, http, keccak256, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { perkNFTAbi, pointsSaleAbi, rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../kits/databases/databases.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import { type Issuer, startIssuer } from '../kits/service/foreign-users.ts';
import {
  brandId,
  type ProductionKit,
  prepareLedger,
  productionOf,
  type Started,
  sqliteLedger,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const user = privateKeyToAccount(generatePrivateKey());
let kit: ProductionKit;
let issuer: Issuer;
let token: string;
beforeAll(async () => {
  kit = await startProductionKit();
  issuer = await startIssuer();
  token = await issuer.tokenOf(user.address);
  const args = [1n, 0n, 2n ** 256n - 1n, brandId, true] as const;
  const call = { address: kit.contracts.perks, abi: perkNFTAbi, functionName: 'setPerk', args } as const;
  await as('admin').writeContract({ chain: null, ...call });
});
afterAll(async () => {
  await issuer?.stop();
  await kit?.stop();
});

const as = (name: 'admin' | 'mint' | 'relay') =>
  createWalletClient({ account: kit.accounts[name], transport: http(kit.anvil.url) });
const mine = async (blocks: number) => {
  for (let n = 0; n < blocks; n++) await kit.rpc('evm_mine', []);
};
const { start, agrees } = productionOf(() => kit);
/** What differs from any other start: users of another project's identity provider, and blocks that are final soon. */
const own = () => ({
  ...issuer.settings,
  REWARDS_FINALITY_BLOCKS: '3',
});
const environment = (ledger: string) => kit.environment(ledger, { REWARDS_ALLOW_SQLITE: 'true', ...own() });
const lane = (env: Record<string, string>, ...args: string[]) => rewardsJson(['lane', ...args], { env });
const accept = (env: Record<string, string>, ...more: string[]) =>
  lane(env, 'accept-nonce', kit.accounts.relay.address, '--by', 'Kim', '--reason', 'moved by hand', ...more);

async function relay(service: Started) {
  const data = encodeFunctionData({
    abi: perkNFTAbi,
    functionName: 'purchaseFor',
    args: [user.address, 1n, 0n],
  });
  const response = await fetch(`${service.ready.urls.events}/relay`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-proto': 'https',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ to: kit.contracts.perks, userAddress: user.address, data }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look at bodies field by field
  return { status: response.status, body: (await response.json()) as any };
}

let payments = 0;
const sales = new Set<Hex>();
/** A stranger sends tokens to the relay account; the ledger is told where they come from. */
async function sendTokens(env: Record<string, string>): Promise<void> {
  const args = [keccak256(toHex(`payment ${payments++}`)), kit.accounts.relay.address, 5n] as const;
  const call = {
    address: kit.contracts.pointsSale,
    abi: pointsSaleAbi,
    functionName: 'mintForPayment',
    args,
  } as const;
  const hash = await as('mint').writeContract({ chain: null, ...call });
  // The chain keeps the sales of earlier tests, whose ledgers are gone.
  for (const transaction of sales.add(hash)) {
    const why = ['--transaction', transaction, '--reason', 'a sale by hand'];
    await rewardsJson(['brand', 'fund', brandId, '5', ...why], { env });
  }
}
/** The operator moves them with the relay key, past the service. */
async function moveTokens(): Promise<Hex> {
  const args = [kit.accounts.admin.address, 5n] as const;
  const call = { address: kit.contracts.token, abi: rewardTokenAbi, functionName: 'transfer', args } as const;
  return as('relay').writeContract({ chain: null, ...call });
}

test('stopped, on SQLite: tokens refuse no start; a nonce that the operator used is accepted, and the next start goes on', async () => {
  const ledger = await sqliteLedger(kit.folder, 'lane');
  const env = environment(ledger);
  const first = await start(ledger, own());
  expect((await relay(first)).status).toBe(200);
  await first.stop();
  await sendTokens(env);
  await (await start(ledger, own())).stop();

  await moveTokens();
  await mine(1);
  const early = await accept(env, '--yes');
  expect([early.code, early.envelope.error.code]).toEqual([1, 'E_REFUSED']);
  expect(early.envelope.error.message).toMatch(/in final blocks, 3 deep/);
  await mine(4);
  const shown = (await lane(env, 'show')).envelope.data.lanes;
  const state = shown.find((one: { purpose: string }) => one.purpose === 'relay');
  expect(state).toMatchObject({ foreign: true, nonce: { ledger: 1, chain: 2, final: 2 }, accepted: [] });
  const asked = await accept(env);
  expect([asked.code, asked.envelope.error.message]).toEqual([
    1,
    expect.stringMatching(/would skip nonce 1, .* and go on with 2/),
  ]);
  expect((await lane(env, 'show')).envelope.data.lanes).toEqual(shown);
  expect((await accept(env, '--yes')).code).toBe(0);
  expect((await accept(env, '--yes')).envelope.error.message).toMatch(
    /used no nonce that the ledger does not know/,
  );
  const stranger = await lane(
    env,
    'accept-nonce',
    `0x${'9'.repeat(40)}`,
    '--by',
    'Kim',
    '--reason',
    'none',
    '--yes',
  );
  expect(stranger.envelope.error.message).toMatch(/not sent anything from this account/);

  const next = await start(ledger, own());
  expect((await relay(next)).status).toBe(200);
  await next.stop();
  await mine(4);
  await agrees(ledger, own());
  const after = (await lane(env, 'show')).envelope.data.lanes;
  expect(after.find((one: { purpose: string }) => one.purpose === 'relay')).toMatchObject({
    foreign: false,
    accepted: [
      { fromNonce: 1, nextNonce: 2, by: 'Kim', reason: 'moved by hand', at: expect.stringMatching(/^20/) },
    ],
  });
});

test.skipIf(postgresMissing())(
  'while it runs, on Postgres: the alarm, then the waiting call is sent and the alarm is over',
  async () => {
    const postgres: TestPostgres = await startPostgres();
    const database = openPostgres(postgres.url);
    await prepareLedger(database);
    await database.close();
    const env = environment(postgres.url);
    const service = await start(postgres.url, own());
    try {
      expect((await relay(service)).status).toBe(200);
      await sendTokens(env);
      await expect.poll(() => service.metric('rewards_relay_tokens'), { timeout: 30_000 }).toBe(5);
      await moveTokens();
      await mine(4);
      const waiting = relay(service);
      await expect.poll(service.log, { timeout: 20_000 }).toContain('"alarm":"foreign_nonce"');
      expect((await accept(env, '--yes')).code).toBe(0);
      const { status, body } = await waiting;
      expect([status, body.success]).toEqual([200, true]);
      expect(service.log()).toContain('alarm is over');
      expect((await service.event({ brandId, userEmail: 'paid@people.example' })).status).toBe(200);
      await mine(4);
      await agrees(postgres.url, own());
    } finally {
      await service.stop();
      await postgres.stop();
    }
  },
);

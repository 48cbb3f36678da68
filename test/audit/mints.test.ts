/** Sales, payments and operators' mints: each kind of difference is planted, found and named; refunds and disputes are flagged. */
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { encodeFunctionData, type Hex, keccak256, toHex } from 'viem';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { VerifyReport } from '../../src/audit/report.ts';
import { pointsSaleAbi } from '../../src/chain/contracts/abis.ts';
import { sessionMintKey } from '../../src/chain/contracts/sale-mint.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { startTestService, type TestService } from '../kits/service/service.ts';

const wallet = `0x${'c3'.repeat(20)}`;
const escrowSession = 'cs_test_escrow';
const walletSession = 'cs_test_wallet';

let service: TestService;
let ledger: SQLite.Database;
const undo: (() => void)[] = [];

/** Plans a paid checkout with its mint, past the service, which finds it by itself. */
function plan(sessionId: string, kind: 'wallet' | 'escrow') {
  const { brandId } = service.brand;
  ledger
    .prepare(
      `insert into checkout_sessions (id, brand_id, wallet, amount_cents, currency, rwt_amount, mint_to,
        processor_session_id, livemode, payment_status, state, created_at, expires_at, refunded_cents)
        values (?, ?, ?, 500, 'usd', 5000, ?, ?, 0, 'paid', 'paid', 0, 0, 0)`,
    )
    .run(`checkout of ${sessionId}`, brandId, wallet, kind, sessionId);
  ledger
    .prepare(
      `insert into mints (session_id, key, kind, brand_id, wallet, usd_cents, rwt_amount, created_at, failed_tries)
        values (?, ?, ?, ?, ?, 500, 5000, 0, 0)`,
    )
    .run(sessionId, sessionMintKey(sessionId), kind, brandId, wallet);
}
const first = <Row>(query: string, ...values: string[]) => ledger.prepare(query).get(...values) as Row;

beforeAll(async () => {
  service = await startTestService();
  ledger = new SQLite(join(service.ready.dataDir, 'ledger.sqlite'));
  plan(walletSession, 'wallet');
  plan(escrowSession, 'escrow');
  await until('both mints', () => {
    const { n } = first<{ n: number }>(
      "select count(*) as n from mints join transactions on transactions.id = transaction_id where outcome = 'done'",
    );
    return n === 2;
  });
});
afterAll(async () => {
  ledger.close();
  await service.stop();
});
afterEach(() => {
  for (const back of undo.splice(0).reverse()) back();
});

async function verify(part = ''): Promise<VerifyReport> {
  return (await service.request(`${service.ready.urls.control}/verify${part}`)).body;
}
/** Changes a column of one row; taken back after the test. */
function plant(table: string, where: string, column: string, value: string) {
  const { before } = first<{ before: string | number | null }>(
    `select ${column} as before from ${table} where ${where}`,
  );
  ledger.exec(`update ${table} set ${column} = ${value} where ${where}`);
  undo.push(() => void ledger.prepare(`update ${table} set ${column} = ? where ${where}`).run(before));
}
const ofWallet = `session_id = '${walletSession}'`;
const checkoutOf = (session: string) => `id = 'checkout of ${session}'`;
const ofCheckout = checkoutOf(walletSession);

test('payments that were minted, to a wallet and into escrow, are no differences, in a part neither', async () => {
  expect(await service.balanceOf(wallet)).toBe(5_000n);
  const whole = await verify();
  // With the opening deposit of the demo brand.
  expect(whole).toMatchObject({ ok: true, differences: [], flagged: [], checked: { mints: 3 } });
  const part = await verify(`?since=${whole.block}`);
  expect(part).toMatchObject({ ok: true, differences: [] });
});

test.each([
  ['another amount', 'rwt_amount', '4999', 'sale_differs'],
  ['another account', 'wallet', "'0x00000000000000000000000000000000000000d4'", 'sale_differs'],
  ['another kind', 'kind', "'escrow'", 'sale_differs'],
])('a sale of %s than the ledger says', async (_, column, value, kind) => {
  plant('mints', ofWallet, column, value);
  const { ok, differences } = await verify();
  expect(ok).toBe(false);
  expect(differences).toMatchObject([{ kind, about: { session: walletSession } }]);
  expect(differences[0]?.found).toBe(`5000 RWT to ${wallet}`);
});

test('a mint whose key the sale has not used, and a sale without a mint in the ledger', async () => {
  plant('mints', ofWallet, 'key', `'${keccak256(toHex('another'))}'`);
  const { differences } = await verify();
  expect(differences.map(({ kind }) => kind).sort()).toEqual(['mint_without_sale', 'sale_without_mint']);
});

test('a paid session without a mint; minted by hand or given back, it is settled', async () => {
  plant('checkout_sessions', ofCheckout, 'processor_session_id', "'cs_test_lost'");
  const kinds = async () => (await verify()).differences.map(({ kind, about }) => [kind, about.session]);
  expect(await kinds()).toEqual([['paid_without_mint', 'cs_test_lost']]);
  plant('checkout_sessions', ofCheckout, 'refunded_cents', '499');
  expect(await kinds()).toHaveLength(1);
  plant('checkout_sessions', ofCheckout, 'refunded_cents', '500');
  expect(await kinds()).toEqual([]);
  ledger.exec(`update checkout_sessions set refunded_cents = 0 where ${ofCheckout}`);
  const env = { REWARDS_CONTROL_TOKEN: service.ready.controlToken };
  const why = [
    '--reason',
    'session cs_test_lost, whose mint was lost',
    '--target',
    service.ready.urls.events,
  ];
  const { envelope } = await rewardsJson(['mint', '--to', wallet, '--amount', '5', ...why], { env });
  expect(envelope.data.body).toMatchObject({ failure: null });
  await until('the mint in the ledger', async () => (await verify()).ok);
  expect(await kinds()).toEqual([]);
});

test('the mint of a paid session that was given up', async () => {
  plant('mints', ofWallet, 'failure', "'InvalidRecipient(0x)'");
  expect((await verify()).differences).toMatchObject([
    { kind: 'paid_without_mint', found: 'InvalidRecipient(0x)', about: { session: walletSession } },
  ]);
});

test('a refund and a dispute after the mint are flagged, and make no difference', async () => {
  plant('checkout_sessions', ofCheckout, 'refunded_cents', '200');
  plant('checkout_sessions', checkoutOf(escrowSession), 'disputed_at', '86400000');
  const report = await verify();
  expect(report.ok).toBe(true);
  expect(report.flagged).toMatchObject([
    { kind: 'disputed_after_mint', about: { session: escrowSession, at: '1970-01-02T00:00:00.000Z' } },
    { kind: 'refunded_after_mint', about: { session: walletSession, cents: 500, refundedCents: 200 } },
  ]);
  const env = { REWARDS_CONTROL_TOKEN: service.ready.controlToken };
  const { code, envelope } = await rewardsJson(['verify', '--target', service.ready.urls.events], { env });
  expect([code, envelope.data.flagged.length]).toEqual([0, 2]);
});

test('a sale by hand is a difference until its transaction is recorded with its amount', async () => {
  const args = [keccak256(toHex('by hand')), wallet as Hex, 12n] as const;
  const data = encodeFunctionData({ abi: pointsSaleAbi, functionName: 'mintForPayment', args });
  const { pointsSale } = service.ready.contracts;
  const rpc = async (method: string, ...params: unknown[]) =>
    (await service.chain.request({ method, params } as never)) as Hex;
  const admin = ((await rpc('eth_accounts')) as unknown as Hex[])[0];
  const hash = await rpc('eth_sendTransaction', { from: admin, to: pointsSale, data });
  await until('the sale in the comparison', async () => !(await verify()).ok);
  expect((await verify()).differences).toMatchObject([
    { kind: 'sale_without_mint', about: { transaction: hash }, found: `12 RWT to ${wallet}` },
  ]);
  const env = { REWARDS_CONTROL_TOKEN: service.ready.controlToken };
  const record = ['--transaction', hash, '--reason', 'by hand', '--target', service.ready.urls.events];
  await rewardsJson(['brand', 'fund', service.brand.brandId, '12', ...record], { env });
  expect((await verify()).differences).toEqual([]);
});

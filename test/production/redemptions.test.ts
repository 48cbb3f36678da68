/** Perks of a production service: offered from the command line, redeemed, and what an operator is told while neither works. */
import Sqlite from 'better-sqlite3';
import { createPublicClient, createWalletClient, encodeFunctionData, http } from 'viem';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { perkNFTAbi } from '../../src/chain/contracts/abis.ts';
import { roleId } from '../../src/chain/contracts/deployment-steps.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  productionOf,
  type Started,
  sqliteLedger,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const userEmail = 'alice@people.example';
let kit: ProductionKit;
let ledger: string;
beforeAll(async () => {
  kit = await startProductionKit();
  ledger = await sqliteLedger(kit.folder, 'redemptions');
  // Without a key: what the brand has paid is all that anybody here redeems.
  const { code } = await rewardsJson(['brand', 'set', 'shop.example', 'redemptions=open', '--allow-sqlite'], {
    env: kit.environment(ledger),
  });
  expect(code).toBe(0);
});
afterAll(() => kit.stop());
const { start, agrees } = productionOf(() => kit);

/** `rewards perks …` on the ledger, without a service. */
async function perks(...args: string[]) {
  const { envelope, code } = await rewardsJson(['perks', ...args, '--allow-sqlite'], {
    env: kit.environment(ledger),
  });
  return { code, data: envelope.data?.body, error: envelope.error };
}

/** As the admin of PerkNFT, about the redemption account's right to redeem. */
async function role(functionName: 'grantRole' | 'revokeRole'): Promise<void> {
  const args = [roleId('REDEEMER_ROLE'), kit.accounts.redemption.address] as const;
  const data = encodeFunctionData({ abi: perkNFTAbi, functionName, args });
  const admin = createWalletClient({ account: kit.accounts.admin, transport: http(kit.anvil.url) });
  await admin.sendTransaction({ chain: null, to: kit.contracts.perks, data });
}

/** Sends a redemption under its key, and comes back when the service has written it down. */
async function redeemLater(service: Started, perkId: string, key: string): Promise<void> {
  const leave = new AbortController();
  const asked = redeem(service, perkId, key, leave.signal).catch((error: Error) => error.name);
  await until(
    'the redemption to wait',
    async () => (await service.metric('rewards_redemptions_waiting')) === 1,
  );
  leave.abort();
  expect(await asked).toBe('AbortError');
}

const redeem = (service: Started, perkId: string, key: string, signal?: AbortSignal) =>
  ask(service, 'redeem', perkId, { headers: { 'idempotency-key': key }, ...(signal && { signal }) });

async function ask(service: Started, what: string, perkId: string, { headers, ...init }: RequestInit = {}) {
  const response = await fetch(`${service.ready.urls.events}/perks/${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-proto': 'https', ...headers },
    body: JSON.stringify({ brandId, userIdentifier: userEmail, platform: 'web', perkId }),
    ...init,
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look at bodies field by field
  return { status: response.status, body: (await response.json()) as any };
}

const isRaised = (service: Started, code: string) => async () =>
  (await service.metric(`rewards_alarms{code="${code}"}`)) === 1;
const isOver = (service: Started, code: string) => async () =>
  service.logLines().some(({ alarm, message }) => alarm === code && message === 'alarm is over') &&
  (await service.metric(`rewards_alarms{code="${code}"}`)) === 0;

/** One after the other: the ledger goes on from test to test. */
let perkId: string;
test('a perk that is added to the ledger is told to the contract by the next service, and can be had', async () => {
  const wish = ['--perk-name', 'Tote bag', '--category', 'physical', '--cost', '1', '--stock', '3'];
  const added = await perks('add', 'shop.example', ...wish);
  expect([added.code, added.data.terms]).toEqual([0, 'waiting']);
  perkId = added.data.id;
  const refused = await perks('set', perkId, 'cost=-1');
  expect([refused.code, refused.error.code]).toEqual([1, 'E_REFUSED']);
  expect((await perks('set', perkId, 'restock=1', 'name=Tote bag, red')).code).toBe(0);

  const service = await start(ledger);
  const catalogue = async () => {
    const response = await fetch(`${service.ready.urls.events}/perks/${brandId}`, {
      headers: { 'x-forwarded-proto': 'https' },
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests look at bodies field by field
    return ((await response.json()) as any).perks[0];
  };
  await until('the contract to sell it', async () => (await catalogue())?.available === 4);
  expect(await catalogue()).toMatchObject({ id: perkId, name: 'Tote bag, red', cost: 1 });
  expect((await service.event({ brandId, userEmail })).status).toBe(200);
  const eligible = async () => (await ask(service, 'check-eligibility', perkId)).body.eligible;
  await until('the reward to be there', eligible);
  const told = await redeem(service, perkId, 'order-1');
  expect(told).toMatchObject({ status: 200, body: { success: true, perk: { cost: 1 } } });
  expect((await redeem(service, perkId, 'order-1')).body).toEqual(told.body);
  await service.stop();
  const { redemptions } = (await perks('redemptions', '--brand', 'shop.example')).data;
  const { confirmationCode, transactionHash } = told.body;
  expect(redemptions).toMatchObject([
    { user: userEmail, perkId, cost: 1, state: 'valid', confirmationCode, transactionHash },
  ]);
  const { data } = await perks('list', '--brand', 'shop.example');
  expect(data.perks).toMatchObject([{ id: perkId, name: 'Tote bag, red', stock: 4, terms: 'on_chain' }]);
  await redeemedTimes(1);
});

test.each([
  ['http://api.shop.example/eligible', 'is not HTTPS'],
  ['https://10.0.0.7/eligible', 'has an address that is not public'],
  ['https://[::1]/eligible', 'has an address that is not public'],
])('a constraint that asks %s is refused: it would never be asked', async (url, why) => {
  const constraint = JSON.stringify({ type: 'external_api', url });
  const wish = ['--perk-name', 'Guarded', '--category', 'digital', '--cost', '1', '--constraint', constraint];
  const added = await perks('add', 'shop.example', ...wish);
  expect([added.code, added.error.code]).toEqual([1, 'E_REFUSED']);
  expect(JSON.stringify(added.error)).toContain(`${why}: the service would never ask it`);
  const changed = await perks('set', perkId, `constraints=[${constraint}]`);
  expect(JSON.stringify(changed.error)).toContain(why);
  const { data } = await perks('list');
  expect(data.perks).toMatchObject([{ id: perkId, constraints: [] }]);
});

test('what the operator’s networks allow may be asked', async () => {
  const constraints = JSON.stringify([{ type: 'external_api', url: 'https://10.0.0.7/eligible' }]);
  const env = kit.environment(ledger, { REWARDS_OUTGOING_NETWORK: '10.0.0.0/8' });
  const set = (value: string) =>
    rewardsJson(['perks', 'set', perkId, `constraints=${value}`, '--allow-sqlite'], { env });
  expect((await set(constraints)).envelope.data.body.constraints).toHaveLength(1);
  expect((await set('[]')).code).toBe(0);
});

test('constraints of a ledger are listed, and what their URL has said is forgotten', async () => {
  const url = 'https://api.shop.example/eligible';
  const constraint = { type: 'external_api', url, ttlSeconds: 300 };
  expect((await perks('set', perkId, `constraints=${JSON.stringify([constraint])}`)).code).toBe(0);
  const env = kit.environment(ledger);
  const run = async (...args: string[]) =>
    (await rewardsJson(['constraints', ...args, '--allow-sqlite'], { env })).envelope;
  const named = ['--brand', 'shop.example'];
  expect((await run('list', ...named)).data.body).toEqual({
    brandId,
    perks: [{ perkId, tokenId: 1, name: 'Tote bag, red', constraints: [constraint] }],
  });
  const file = new Sqlite(ledger.slice('sqlite:'.length));
  const insert = file.prepare(
    `insert into constraint_results (brand_id, url, user_address, collection_id, asked_by, is_met, expires_at)
     values (?, ?, (select lower(address) from wallets where user_key = ?), 1, 'a test', 0, 9999999999999)`,
  );
  insert.run(brandId, url, userEmail);
  const invalidated = async (...args: string[]) =>
    (await run('invalidate', url, ...named, ...args)).data.body.invalidated;
  expect([await invalidated('--user', userEmail), await invalidated()]).toEqual([1, 0]);
  insert.run(brandId, url, userEmail);
  file.close();
  expect([await invalidated('--token-id', '2'), await invalidated()]).toEqual([0, 1]);
  expect((await run('list')).error).toMatchObject({
    code: 'E_USAGE',
    hint: expect.stringContaining('--brand'),
  });
  expect((await run('list', '--brand', 'nobody.example')).error.code).toBe('E_REFUSED');
  expect((await perks('set', perkId, 'constraints=[]')).code).toBe(0);
});

/** The user has the perk this often, and paid for each; ledger and chain agree. */
async function redeemedTimes(times: number): Promise<void> {
  const client = createPublicClient({ transport: http(kit.anvil.url) });
  const events = await client.getContractEvents({
    address: kit.contracts.perks,
    abi: perkNFTAbi,
    eventName: 'PerkRedeemed',
    fromBlock: 0n,
  });
  expect(events).toHaveLength(times);
  await agrees(ledger);
}

/** The redemptions that wait were asked for long ago. */
function asIfLongAgo(): void {
  const file = new Sqlite(ledger.slice('sqlite:'.length));
  file.exec('update redemptions set created_at = 0 where transaction_id is null');
  file.close();
}

test('without its role nothing is redeemed, which alarms say until it has the role; then what waited is redeemed once', async () => {
  const service = await start(ledger);
  await role('revokeRole');
  await redeemLater(service, perkId, 'order-2');
  await until('the alarm', isRaised(service, 'redemption_refused'));
  const [raised] = service.logLines().filter(({ alarm }) => alarm === 'redemption_refused');
  expect(raised).toMatchObject({
    about: kit.accounts.redemption.address,
    redemption: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    reason: expect.stringContaining('AccessControlUnauthorizedAccount'),
  });
  expect(await service.metric('rewards_alarms{code="redemption_waiting"}')).toBe(0);
  asIfLongAgo();
  await until('the alarm of age', isRaised(service, 'redemption_waiting'));
  // What the page of alarms tells to type.
  const shown = await rewardsJson(['contracts', 'show'], { env: kit.environment(ledger) });
  expect(JSON.stringify(shown.envelope)).toContain('REDEEMER_ROLE');

  await role('grantRole');
  await until('the redemption', async () => (await redeem(service, perkId, 'order-2')).status === 200);
  await until('the end of the alarm', isOver(service, 'redemption_refused'));
  await until('the end of the other', isOver(service, 'redemption_waiting'));
  await service.stop();
  await redeemedTimes(2);
});

test('a process without the key redeems nothing, which an alarm and figures say; one that has it redeems what waited', async () => {
  const without = await start(ledger, { REWARDS_REDEMPTION_KEY: undefined });
  expect(without.log()).toContain('this process has no key to redeem with');
  await redeemLater(without, perkId, 'order-3');
  asIfLongAgo();
  await until('the alarm', isRaised(without, 'redemption_waiting'));
  expect(await without.metric('rewards_alarms{code="redemption_refused"}')).toBe(0);
  expect(await without.metric('rewards_redemptions_waiting_oldest_seconds')).toBeGreaterThan(60);
  await without.stop();

  const service = await start(ledger);
  await until('the redemption', async () => (await redeem(service, perkId, 'order-3')).status === 200);
  await until('the figure', async () => (await service.metric('rewards_redemptions_waiting')) === 0);
  await until('no alarm', async () => !(await isRaised(service, 'redemption_waiting')()));
  await service.stop();
  await redeemedTimes(3);
});

test('on a ledger without a service, what waits is listed, and dropped', async () => {
  const without = await start(ledger, { REWARDS_REDEMPTION_KEY: undefined });
  await redeemLater(without, perkId, 'order-4');
  await without.stop();
  const env = kit.environment(ledger);
  const run = async (...args: string[]) =>
    (await rewardsJson(['redemptions', ...args, '--allow-sqlite'], { env })).envelope;
  const waiting = async () =>
    (await run('list', '--waiting', '--brand', 'shop.example')).data.body.redemptions;
  const [{ id, state, refusals }] = await waiting();
  expect([state, refusals]).toEqual(['pending', 0]);
  expect((await run('drop', id)).data.body).toMatchObject({ id, state: 'failed' });
  expect(await waiting()).toEqual([]);
  const service = await start(ledger);
  await until('the service', async () => (await service.metric('rewards_redemptions_waiting')) === 0);
  await service.stop();
  await redeemedTimes(3);
});

/** A service in which nobody sends what its brands need: said when it is ready, in /readyz, and by an alarm. */
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { until } from '../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  productionOf,
  sqliteLedger,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

let kit: ProductionKit;
let ledger: string;
beforeAll(async () => {
  kit = await startProductionKit();
  ledger = await sqliteLedger(kit.folder, 'lanes');
});
afterAll(() => kit.stop());
const { start, agrees } = productionOf(() => kit);

/** Sends an event that nobody answers yet; the function that it returns gives up waiting, and tells how that ended. */
function ask({ ready }: Awaited<ReturnType<typeof start>>, userEmail: string) {
  const patience = new AbortController();
  const asked = fetch(`${ready.urls.events}/rewards-api/manual-event`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-proto': 'https' },
    body: JSON.stringify({ brandId, eventType: 'form_submit', domain: 'shop.example', userEmail }),
    signal: patience.signal,
  }).catch((error: Error) => error.name);
  return () => {
    patience.abort();
    return asked;
  };
}

const withFile = (work: (file: Sqlite.Database) => void) => {
  const file = new Sqlite(ledger.slice('sqlite:'.length));
  work(file);
  file.close();
};

test('without a process that pays, the start says so, and /readyz, and an alarm when a reward waits; with one, it is paid', async () => {
  // The first process reads what the brand has deposited.
  const first = await start(ledger);
  expect(first.ready).toMatchObject({
    lanes: { payout: 'here', mint: 'here', redeem: 'here', relay: 'here' },
  });
  expect(first.log()).not.toContain('no process sends');
  await first.stop();

  const api = await start(ledger, { REWARDS_WORKERS: 'api' });
  expect(api.ready).toMatchObject({
    lanes: { payout: 'missing', mint: 'not needed', redeem: 'not needed', relay: 'elsewhere' },
  });
  const warned = api.logLines().find(({ lane }) => lane === 'payout');
  expect(warned).toMatchObject({
    level: 'warn',
    message: 'no process sends rewards: what waits for the payout lane goes on waiting',
    fix: 'start a process with the role outbox and REWARDS_PAYOUT_KEY_FILE',
  });
  expect(await api.admin('/readyz')).toMatchObject({ status: 200, body: { workers: { payout: 'missing' } } });

  const leave = ask(api, 'a@people.example');
  await until('the reward to wait', async () => (await api.metric('rewards_waiting')) === 1);
  expect(await leave()).toBe('AbortError');
  expect(await api.metric('rewards_alarms{code="reward_waiting"}')).toBe(0);
  withFile((file) => file.exec('update rewards set created_at = 0'));
  await until('the alarm', async () => (await api.metric('rewards_alarms{code="reward_waiting"}')) === 1);
  expect(api.logLines().find(({ alarm }) => alarm === 'reward_waiting')).toMatchObject({
    about: 'rewards',
    waiting: 1,
  });
  await api.stop();

  const both = await start(ledger);
  expect(both.ready).toMatchObject({
    lanes: { payout: 'here', mint: 'here', redeem: 'here', relay: 'here' },
  });
  await until('the payout', async () => (await both.metric('rewards_waiting')) === 0);
  await until('no alarm', async () => (await both.metric('rewards_alarms{code="reward_waiting"}')) === 0);
  await both.stop();
  await agrees(ledger);
});

test('an account without gas money: a warning at the start, and one line of what its node says, not one a second', async () => {
  const own = ledger;
  const { address } = kit.accounts.payout;
  const service = await start(own);
  await kit.rpc('anvil_setBalance', [address, '0x0']);
  const leave = ask(service, 'b@people.example');
  await until('the alarm', async () => (await service.metric('rewards_alarms{code="gas_money_low"}')) === 1);
  expect(await leave()).toBe('AbortError');
  const offered = async () => (await service.metric('rewards_send_outcomes_total{outcome="rejected"}')) ?? 0;
  await until('several offers', async () => (await offered()) >= 4);
  const said = service.logLines().filter(({ message }) => String(message).startsWith('a node did not take'));
  expect(said).toHaveLength(1);
  await service.stop();

  const again = await start(own);
  expect(again.logLines().find(({ code }) => code === 'E_PROD_GAS_MONEY')).toMatchObject({
    level: 'warn',
    message: expect.stringContaining(`the payout account ${address} has 0 for gas`),
    fix: expect.stringMatching(new RegExp(`^send at least .* to ${address}$`)),
  });
  await kit.rpc('anvil_setBalance', [address, '0x3635c9adc5dea00000']);
  await until('the payout', async () => (await again.metric('rewards_waiting')) === 0);
  await again.stop();
});

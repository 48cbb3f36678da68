/** A new brand on a production ledger: what strangers may be paid is bounded, told when it is made, and looked at by doctor. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../kits/databases/databases.ts';
import { rewards, rewardsJson } from '../kits/service/cli.ts';

const brandId = `0x${'5b'.repeat(20)}`;

describe.skipIf(postgresMissing())('a new brand on a production ledger', () => {
  let postgres: TestPostgres;
  const text = (...args: string[]) => rewards([...args, '--database-url', postgres.url]);
  const on = (...args: string[]) => rewardsJson([...args, '--database-url', postgres.url]);
  const keyless = async () => (await on('doctor', 'keyless')).envelope.data.findings;
  beforeAll(async () => {
    postgres = await startPostgres();
    const database = openPostgres(postgres.url);
    await migrate(database);
    await database.close();
  });
  afterAll(() => postgres.stop());

  test('pays no streaks and at most 1000 RWT an hour, says so, and is changed by its settings', async () => {
    const named = ['--brand-name', 'Shop', '--domain', 'shop.example'];
    const made = await text('brand', 'create', brandId, ...named);
    expect(made.stdout).toMatch(/pay at most 1000 RWT an hour together, the default in production/);
    expect(made.stdout).toContain('spendPerHour=none for no limit');
    expect(await keyless()).toEqual([{ check: 'keyless', message: 'no brand pays callers without its key' }]);
    const { envelope } = await on('brand', 'show', brandId);
    expect(envelope.data.body).toMatchObject({
      streakPays: 'off',
      spendPerHour: 1000,
      paysWithoutKey: [],
    });

    await on('brand', 'rule', brandId, 'account_creation', '--reward', '100');
    await on('brand', 'set', brandId, 'streakPays=service');
    const shown = await text('brand', 'show', brandId);
    expect(shown.stdout).toMatch(/pays without a key +within its spend limit/);
    expect(shown.stdout).toMatch(
      /events +any e-mail, from callers that name shop\.example: account_creation/,
    );
    expect(shown.stdout).toMatch(/check-ins .*streakPays=off, or clientEvents=credential ends it/);
    expect(shown.stdout).toMatch(/milestones .*10000 RWT after 365 days/);
    const [bounded] = await keyless();
    expect(bounded).toEqual({
      check: 'keyless',
      message: expect.stringContaining('at most 1000 RWT in an hour'),
    });

    await on('brand', 'set', brandId, 'spendPerHour=none');
    expect((await text('brand', 'show', brandId)).stdout).toContain('without a spend limit');
    expect(await keyless()).toEqual([
      expect.objectContaining({ fix: expect.stringContaining('spendPerHour=') }),
    ]);

    await on('brand', 'set', brandId, 'clientEvents=credential');
    expect((await on('brand', 'show', brandId)).envelope.data.body.paysWithoutKey).toEqual([]);
  });

  test('a rule that is named like a check-in warns beside streaks that the service pays', async () => {
    const fourth = `0x${'5e'.repeat(20)}`;
    await on('brand', 'create', fourth, '--brand-name', 'Fourth', '--domain', 'fourth.example');
    await on('brand', 'rule', fourth, 'custom_daily_checkin', '--reward', '5');
    await on('brand', 'rule', fourth, 'bot_check_in', '--reward', '5', '--active', 'off');
    expect((await on('brand', 'show', fourth)).envelope.data.body.warnings).toEqual([]);
    const set = await text('brand', 'set', fourth, 'streakPays=service');
    expect(set.stdout).toMatch(/warning +the service pays .* custom_daily_checkin may pay/);
    expect(set.stdout).not.toContain('bot_check_in may pay');
    await on('brand', 'rule', fourth, 'site_milestone_claim', '--reward', '5');
    expect((await on('brand', 'show', fourth)).envelope.data.body.warnings).toHaveLength(2);
    await on('brand', 'set', fourth, 'streakPays=event');
    expect((await on('brand', 'show', fourth)).envelope.data.body.warnings).toEqual([]);
  });

  test('a limit that is asked for, or none, is not told as the default', async () => {
    const other = ['--brand-name', 'Other', '--domain', 'other.example', '--spend-per-hour'];
    const limited = await text('brand', 'create', `0x${'5c'.repeat(20)}`, ...other, '50');
    expect(limited.stdout).not.toContain('the default in production');
    expect(limited.stdout).toMatch(/spend limit +50 RWT an hour/);
    const third = ['--brand-name', 'Third', '--domain', 'third.example', '--spend-per-hour', 'none'];
    const { envelope } = await on('brand', 'create', `0x${'5d'.repeat(20)}`, ...third);
    expect(envelope.data.body.spendPerHour).toBeNull();
  });
});

/** A payer's row that another transaction keeps locked: its calls wait, those of other payers do not. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FREE_PERK, type RelayKit, startRelayKit } from '../../kits/chain/wallet.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../../kits/databases/databases.ts';

describe.skipIf(postgresMissing() !== undefined)('on Postgres, in a transaction that somebody forgot', () => {
  let postgres: TestPostgres;
  let kit: RelayKit;
  const other = `0x${'7'.repeat(40)}` as const;
  const OTHERS_PERK = 8n;
  beforeAll(async () => {
    postgres = await startPostgres({ migrated: true });
    kit = await startRelayKit({ databaseUrl: postgres.url });
    await kit.control('/brands', { brandId: other, name: 'Other', domains: ['other.example'] });
    await kit.setPerk(OTHERS_PERK, 0n, 100n, other);
  });
  afterAll(async () => {
    await kit?.stop();
    await postgres?.stop();
  });

  test("a payer's budget: its calls are 503 or wait, those of another payer are sent meanwhile", async () => {
    const { alice, bob } = kit.users;
    const buy = (user: typeof alice, perk: bigint) => kit.relay(user, kit.purchase(user.address, perk));
    // Now both budgets have their rows.
    expect((await buy(alice, FREE_PERK)).status).toBe(200);
    expect((await buy(bob, OTHERS_PERK)).status).toBe(200);
    const somebody = new pg.Client({ connectionString: postgres.url });
    await somebody.connect();
    await somebody.query('begin');
    await somebody.query('select * from gas_budgets where payer = $1 for update', [kit.brand.brandId]);

    const waiting = buy(alice, FREE_PERK);
    // Calls that share its round, and calls of later rounds.
    const others = await Promise.all([buy(bob, OTHERS_PERK), buy(bob, OTHERS_PERK)]);
    others.push(await buy(bob, OTHERS_PERK));
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);
    await somebody.query('rollback');
    // It waits some seconds for its row, and may have waited for too long.
    expect([200, 503]).toContain((await waiting).status);

    await somebody.query('begin');
    await somebody.query('select * from gas_budgets where payer = $1 for update', [kit.brand.brandId]);
    const busy = await buy(alice, FREE_PERK);
    expect([busy.status, busy.body.code]).toEqual([503, 'DATABASE_BUSY']);
    expect(busy.headers.get('retry-after')).toBe('1');
    await somebody.query('rollback');
    expect((await buy(alice, FREE_PERK)).status).toBe(200);
    await somebody.end();
  }, 90_000);
});

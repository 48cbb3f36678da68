/** Rules with `perUsd` and no `maxReward`, as ledgers have them from before one needed the other. */
import { join } from 'node:path';
import { and, eq } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../../src/ledger/database/sqlite.ts';
import { eventRules } from '../../../src/ledger/schema/brands.ts';
import type { Log, LogFields } from '../../../src/lib/log.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { someone } from '../../kits/service/service.ts';
import { bearer, shop, startContractService } from '../kit.ts';

describe.each(databaseKinds)('a rule that could pay without an end (on $kind)', ({ open: openKind }) => {
  test('pays its fixed reward and is alarmed once, until it has its maximum', async () => {
    const lines: string[] = [];
    const note = (fields: LogFields, message: string) => {
      if (fields.alarm === 'rule_without_max_reward') lines.push(`${message}: ${fields.about}`);
    };
    const log: Log = { debug: () => {}, info: note, warn: note, error: note };
    const { databaseUrl, stop } = await openKind();
    onTestFinished(stop);
    const service = await startContractService({ databaseUrl, log });
    onTestFinished(service.stop);
    const order = async () => {
      const fields = { userEmail: someone(), eventType: 'endless', metadata: { order_total: 1_000 } };
      const { status, body } = await service.send(shop, fields, bearer(shop));
      return [status, body.rewardAmount];
    };
    const [, fixed] = await order();
    await service.setRule(shop, 'endless', { perUsd: 2, maxReward: 500 });
    expect(await order()).toEqual([200, 500]);
    expect(lines).toEqual([]);

    const ledger = databaseUrl
      ? openPostgres(databaseUrl)
      : openSqlite(join(service.ready.dataDir, 'ledger.sqlite'));
    const isRule = and(
      eq(eventRules.brandId, shop.brandId as `0x${string}`),
      eq(eventRules.eventType, 'endless'),
    );
    const [rule] = await ledger.db.select().from(eventRules).where(isRule);
    if (!rule) throw new Error('the rule is in the ledger');
    const detail = { ...rule.detail, dynamic: { perUsd: 2 } };
    await ledger.db.update(eventRules).set({ detail }).where(isRule);
    await ledger.close();

    expect(await order()).toEqual([200, fixed]);
    expect(await order()).toEqual([200, fixed]);
    const about = `${shop.brandId} endless`;
    expect(lines).toEqual([`alarm: ${about}`]);
    await service.setRule(shop, 'endless', { maxReward: 300 });
    expect(await order()).toEqual([200, 300]);
    expect(lines).toEqual([`alarm: ${about}`, `alarm is over: ${about}`]);
  });
});

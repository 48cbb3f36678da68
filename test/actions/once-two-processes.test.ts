/** One order that two processes get at once, many times, is paid once; other orders of the user beside it all are. */
import { expect, test } from 'vitest';
import { changeRule } from '../../src/actions/brands/manage-brands.ts';
import { createEventSubmitter } from '../../src/actions/events/batch-events.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { rewards } from '../../src/ledger/schema/rewards.ts';
import { freshKey, patient, postgresMissing, startPostgres } from '../kits/databases/databases.ts';
import { openLedger, someBrand } from './ledger.ts';

test.skipIf(postgresMissing())('on Postgres', { timeout: 60_000 }, async () => {
  const postgres = await startPostgres();
  const ledger = await openLedger(openPostgres(patient(postgres.url)));
  const second = openPostgres(patient(postgres.url));
  try {
    const { brandId, domain } = await someBrand(ledger, { deposit: 1_000 });
    const rule = { reward: 10, oncePer: 'order_id', maxClaims: 'unlimited', cooldown: 0 };
    await changeRule(ledger, { name: brandId, eventType: 'purchase' }, rule);
    const submitters = [ledger.database, second].map((database) =>
      createEventSubmitter({
        ...ledger,
        database,
        ownHosts: [],
        ownAddresses: new Set<string>(),
        duplicateWindowMs: 60_000,
        batchMax: 10,
        triesMax: 20,
        crash: () => {},
      }),
    );
    const userKey = `${freshKey('user')}@demo.example`;
    const deliver = (n: number) => {
      const metadata = { order_id: n % 2 === 0 ? 'A-1' : `B-${n % 10}` };
      const submission = {
        brandId,
        eventType: 'purchase',
        userKey,
        userEmail: userKey,
        userAddress: undefined,
        domain,
        channel: undefined,
        skipCooldown: false,
        metadata,
        withBrandKey: false,
      };
      const event = { submission, rewardId: ledger.random.uuid() };
      return (submitters[n % 3 === 0 ? 0 : 1] as (typeof submitters)[0]).submit(event);
    };
    const decisions = await Promise.all(Array.from({ length: 60 }, (_, n) => deliver(n)));
    const refusals = decisions.flatMap((one) => ('refusal' in one ? one.refusal.code : []));
    expect(new Set(refusals)).toEqual(new Set(['already_rewarded']));
    const paid = (await ledger.database.db.select().from(rewards)).map(({ metadata }) => metadata.order_id);
    expect(paid.sort()).toEqual(['A-1', 'B-1', 'B-3', 'B-5', 'B-7', 'B-9']);
  } finally {
    await second.close();
    await ledger.close();
    await postgres.stop();
  }
});

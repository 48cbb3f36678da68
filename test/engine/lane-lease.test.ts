/** A process's hold on a lane: when the row is asked, and when what is known of the lane is forgotten. */
import { expect, test } from 'vitest';
import { createLaneLease } from '../../src/chain/lane/lease.ts';
import { leaseLane } from '../../src/ledger/transactions/lanes.ts';
import { type LogFields, silentLog } from '../../src/lib/log.ts';
import { freshAddress, onEveryDatabase } from '../kits/databases/databases.ts';

const LEASE_MS = 600_000;

onEveryDatabase(({ kit }) => {
  function start() {
    const address = freshAddress();
    const world = { nowMs: 1_000_000, changes: 0, lines: [] as unknown[] };
    const hold = createLaneLease(
      {
        database: kit().database,
        owner: 'a',
        signer: { address },
        realClock: { now: () => world.nowMs, sleep: async () => {} },
        log: { ...silentLog, info: (of: LogFields) => world.lines.push(of) } as unknown as typeof silentLog,
        settings: { leaseMs: LEASE_MS, purpose: 'setup' },
      },
      () => {
        world.changes += 1;
      },
    );
    /** Another process takes the lane as if the lease were over, and gives it back. */
    const lose = async ({ back }: { back: boolean }) => {
      const { db, now } = kit().database;
      const over = (owner: string) =>
        leaseLane(db, { address, purpose: 'setup', owner, now, forMs: -2 * LEASE_MS });
      await over('a');
      const epoch = await leaseLane(db, { address, purpose: 'setup', owner: 'b', now, forMs: LEASE_MS });
      if (back) await over('b');
      return epoch;
    };
    return { world, hold, lose, address };
  }

  test('is believed for half its lease, then renewed under its epoch; nothing is forgotten meanwhile', async () => {
    const { world, hold, address } = start();
    expect(await hold.epoch()).toBe(1);
    expect([world.changes, world.lines]).toEqual([1, [{ lane: address, purpose: 'setup', epoch: 1 }]]);
    world.nowMs += LEASE_MS / 2;
    expect(await hold.epoch()).toBe(1);
    expect([world.changes, world.lines.length]).toEqual([1, 1]);
  });

  test.each([
    ['fresh', LEASE_MS / 2 - 1, 1],
    ['at half its time', LEASE_MS / 2, undefined],
    ['whose clock was set back', -1, undefined],
  ])(
    'one that is %s, %i ms later: its epoch is %s when another process has the lane',
    async (_, afterMs, expected) => {
      const { world, hold, lose } = start();
      await hold.epoch();
      expect(await lose({ back: false })).toBe(2);
      world.nowMs += afterMs;
      expect(await hold.epoch()).toBe(expected);
      expect(world.changes).toBe(expected === undefined ? 2 : 1);
    },
  );

  test('that was lost and won again in between begins anew', async () => {
    const { world, hold, lose } = start();
    await hold.epoch();
    await lose({ back: true });
    world.nowMs += LEASE_MS;
    expect(await hold.epoch()).toBe(3);
    expect([world.changes, world.lines.length]).toEqual([2, 2]);
    await hold.release();
    await hold.release();
    expect(world.changes).toBe(4);
    expect(await hold.epoch()).toBe(3);
  });

  test('that is given back is free for another process at once', async () => {
    const { hold, address } = start();
    await hold.epoch();
    const { db, now } = kit().database;
    const byAnother = () => leaseLane(db, { address, purpose: 'setup', owner: 'b', now, forMs: LEASE_MS });
    expect(await byAnother()).toBeUndefined();
    await hold.release();
    expect(await byAnother()).toBe(2);
    // It is no longer this process's to give back.
    await hold.release();
    expect(await hold.epoch()).toBeUndefined();
  });
});

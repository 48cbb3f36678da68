/** A lane against a real ledger and a chain that says what a test tells it: what it signs, offers, replaces and gives up. */
import { parseTransaction } from 'viem';
import { expect, test } from 'vitest';
import { sign } from '../../src/chain/lane/broadcast.ts';
import type { LaneDeps } from '../../src/chain/lane/types.ts';
import { leaseLane, releaseLane } from '../../src/ledger/transactions/lanes.ts';
import {
  markIncluded,
  storeReplacement,
  transactionsById,
} from '../../src/ledger/transactions/transactions.ts';
import { freshHash, onEveryDatabase } from '../kits/databases/databases.ts';
import { GWEI, settings, startLane, UNKNOWN } from './lane-kit.ts';

onEveryDatabase(({ kit }) => {
  const start = (more?: Parameters<typeof startLane>[1]) => startLane(kit().database, more);

  test('signs so many in one commit as are allowed, up to the most in flight, under the next nonces', async () => {
    const { world, turn, open, offers, lane } = start();
    Object.assign(world.nonces, { latest: 4, pending: 4 });
    world.work = 9;
    expect(await turn()).toEqual(['worked', '4: 21 1', '5: 21 1']);
    expect(world.told).toEqual(['stored', 'stored', 'sent', 'sent']);
    expect(await turn()).toEqual(['worked', '6: 21 1']);
    expect(await turn()).toEqual(['idle']);
    expect(world.work).toBe(6);
    const stored = await open();
    expect(stored.map(({ nonce }) => nonce)).toEqual([4, 5, 6]);
    const rows = await transactionsById(
      kit().database.db,
      stored.map(({ id }) => id),
    );
    expect(rows.map(({ status }) => status)).toEqual(['sent', 'sent', 'sent']);
    const [first] = world.offered;
    expect(first && parseTransaction(first)).toMatchObject({
      chainId: 7,
      type: 'eip1559',
      data: '0xabcd',
      value: 5n,
      gas: 50_000n,
    });
    // A block holds the first two: there is room again.
    Object.assign(world.nonces, { latest: 6, pending: 7 });
    expect(await turn()).toEqual(['worked', '7: 21 1', '8: 21 1']);
    expect(offers()).toHaveLength(5);
    await lane.release();
  });

  test('without work, without a block and while another process has the lane, nothing is offered', async () => {
    const { world, turn, signer } = start();
    expect(await turn()).toEqual(['idle']);
    world.work = 1;
    const { baseFeeWei } = world;
    world.baseFeeWei = undefined;
    expect(await turn()).toEqual(['idle']);
    world.baseFeeWei = baseFeeWei;
    const { db, now } = kit().database;
    await releaseLane(db, { address: signer.address, owner: 'test' });
    const other = { address: signer.address, purpose: 'setup', owner: 'other', now, forMs: 600_000 } as const;
    expect(await leaseLane(db, other)).toBe(2);
    // Fresh holds are believed; what they would write is fenced.
    await expect(turn()).rejects.toThrow('the lease on the lane has run out');
    expect(await turn(300_000)).toEqual(['idle']);
    await releaseLane(db, { address: signer.address, owner: 'other' });
    expect(await turn()).toEqual(['worked', '0: 21 1']);
  });

  test('another sender on the account, in a block or in the pool, stops it until the nonces agree', async () => {
    const { world, turn, alarms, facts } = start();
    world.work = 2;
    // The pool does not say where an account begins.
    world.nonces.pending = 3;
    expect(await turn()).toEqual(['worked', '0: 21 1', '1: 21 1']);
    world.work = 1;
    expect(await turn()).toEqual(['idle']);
    expect([alarms(), facts()]).toEqual([['foreign_nonce'], { chainNonce: 3, ledgerNonce: 2 }]);
    world.nonces.pending = 2;
    expect(await turn()).toEqual(['worked', '2: 21 1']);
    expect(alarms()).toEqual([]);
    world.nonces.latest = 4;
    world.work = 1;
    expect(await turn()).toEqual(['idle']);
    expect([alarms(), facts()]).toEqual([['foreign_nonce'], { chainNonce: 4, ledgerNonce: 3 }]);
  });

  test('gas above the cap: nothing is signed, and it says so until gas is cheaper', async () => {
    const { world, turn, alarms, facts } = start();
    world.work = 1;
    world.baseFeeWei = 100n * GWEI + 1n;
    expect(await turn()).toEqual(['idle']);
    expect([alarms(), facts()]).toEqual([['fee_over_cap'], { baseFeeWei: String(100n * GWEI + 1n) }]);
    world.baseFeeWei = 100n * GWEI;
    expect(await turn()).toEqual(['worked', '0: 100 1']);
    expect(alarms()).toEqual([]);
  });

  test('what no node took is offered again at each turn, in order, and nothing new before it', async () => {
    const { world, turn, alarms, facts } = start({ bumpAfterMs: 60_000 });
    world.work = 3;
    world.answers = [UNKNOWN, UNKNOWN];
    expect(await turn()).toEqual(['idle', '0: 21 1', '1: 21 1']);
    expect(world.told).toEqual(['stored', 'stored']);
    world.answers = [UNKNOWN];
    expect(await turn(9_999)).toEqual(['idle', '0: 21 1']);
    expect(alarms()).toEqual([]);
    world.answers = [UNKNOWN];
    expect(await turn(1)).toEqual(['idle', '0: 21 1']);
    expect([alarms(), facts()]).toEqual([['transaction_not_taken'], { nonce: 0 }]);
    expect(await turn()).toEqual(['worked', '0: 21 1', '1: 21 1', '2: 21 1']);
    expect(alarms()).toEqual([]);
    expect(world.told.filter((one) => one === 'sent')).toHaveLength(3);
  });

  test('an alarm about what no node took is over when a block holds it', async () => {
    const { world, turn, alarms } = start({ bumpAfterMs: 60_000 });
    world.work = 1;
    world.answers = [UNKNOWN, UNKNOWN];
    await turn();
    await turn(10_000);
    expect(alarms()).toEqual(['transaction_not_taken']);
    Object.assign(world.nonces, { latest: 1, pending: 1 });
    expect(await turn()).toEqual(['idle']);
    expect(alarms()).toEqual([]);
  });

  test('a node that has lost the lowest has lost the others too: all are offered again at once, in order', async () => {
    const { world, turn } = start({ bumpAfterMs: 60_000 });
    world.work = 3;
    await turn();
    await turn();
    world.pool.clear();
    expect(await turn(999)).toEqual(['idle']);
    expect(await turn(1)).toEqual(['worked', '0: 21 1']);
    expect(await turn()).toEqual(['idle', '1: 21 1', '2: 21 1']);
    // It has them all now.
    expect(await turn(1_000)).toEqual(['idle', '0: 21 1']);
    expect(await turn()).toEqual(['idle']);
  });

  test('the lowest alone is offered again after a while, and for more after a longer one', async () => {
    const { world, turn, open } = start();
    world.work = 2;
    await turn();
    expect(await turn(999)).toEqual(['idle']);
    expect(await turn(1)).toEqual(['idle', '0: 21 1']);
    expect(await turn(999)).toEqual(['idle']);
    expect(await turn(1)).toEqual(['idle', '0: 21 1']);
    // Five seconds after the first offer: an eighth more.
    expect(await turn(2_999)).toEqual(['idle', '0: 21 1']);
    expect(await turn(1)).toEqual(['worked', '0: 23 1']);
    expect(await open()).toMatchObject([
      { nonce: 0, maxFeeWei: (21n * GWEI * 9n) / 8n, priorityFeeWei: (GWEI * 9n) / 8n },
      { nonce: 1, maxFeeWei: 21n * GWEI },
    ]);
    const [first, last] = [world.offered[0], world.offered.at(-1)].map((raw) => raw && parseTransaction(raw));
    expect([last?.to, last?.data, last?.value, last?.gas]).toEqual([
      first?.to,
      first?.data,
      first?.value,
      first?.gas,
    ]);
    // The time begins again with the new offer.
    expect(await turn(4_999)).toEqual(['idle', '0: 23 1']);
    expect((await turn(1))[0]).toBe('worked');
  });

  test('when gas is dearer than the lowest offers, it is replaced sooner; never above the cap', async () => {
    const { world, turn, alarms, facts } = start();
    world.work = 1;
    await turn();
    world.baseFeeWei = 21n * GWEI;
    expect(await turn(1_000)).toEqual(['idle', '0: 21 1']);
    world.baseFeeWei = 21n * GWEI + 1n;
    expect(await turn(1)).toEqual(['worked', '0: 43 1']);
    world.baseFeeWei = 90n * GWEI;
    expect(await turn(999)).toEqual(['idle']);
    expect(await turn(1)).toEqual(['worked', '0: 100 1']);
    world.baseFeeWei = 101n * GWEI;
    expect(await turn(1_000)).toEqual(['idle', '0: 100 1']);
    expect([alarms(), facts()]).toEqual([['fee_over_cap'], { baseFeeWei: String(101n * GWEI) }]);
  });

  test('no replacement offers more in all than nodes take, whatever the cap of a gas unit', async () => {
    // Its work asks for 50,000 gas: nodes take 30 gwei for each.
    const { world, turn } = start({ offerMaxWei: 50_000n * 30n * GWEI });
    world.work = 1;
    expect(await turn()).toEqual(['worked', '0: 21 1']);
    world.baseFeeWei = 25n * GWEI;
    expect(await turn(1_000)).toEqual(['worked', '0: 30 1']);
  });

  test('nor more for a unit of gas than the cap, however much nodes take', async () => {
    const { world, turn, alarms, facts } = start({ offerMaxWei: 50_000n * 300n * GWEI, inFlightMax: 1 });
    world.work = 1;
    await turn();
    world.baseFeeWei = 60n * GWEI;
    expect(await turn(1_000)).toEqual(['worked', '0: 100 1']);
    world.baseFeeWei = 101n * GWEI;
    expect(await turn(1_000)).toEqual(['idle', '0: 100 1']);
    expect([alarms(), facts()]).toEqual([['fee_over_cap'], { baseFeeWei: String(101n * GWEI) }]);
  });

  test('one whose block was read after all is no longer offered, nor given up', async () => {
    const { world, turn, open, alarms } = start();
    world.work = 1;
    await turn();
    const [first] = await open();
    if (!first) throw new Error('nothing was stored');
    await kit().database.atomically((tx) =>
      markIncluded(tx, {
        id: first.id,
        hash: first.hash,
        blockNumber: 1,
        blockHash: freshHash(),
        outcome: 'done',
        gasUsed: 1,
        gasPriceWei: '1',
      }),
    );
    // The ledger knows before this lane does: a better offer is not stored any more.
    expect(await turn(5_000)).toEqual(['idle']);
    expect(await transactionsById(kit().database.db, [first.id])).toMatchObject([{ status: 'included' }]);
    expect(alarms()).toEqual([]);
  });

  test('nor when it was read after the lane has looked: its bytes stay, and are let go with the next look', async () => {
    const { world, turn, open } = start({ resendAfterMs: 60_000 });
    world.work = 1;
    await turn();
    const [first] = await open();
    if (!first) throw new Error('nothing was stored');
    await kit().database.atomically((tx) =>
      markIncluded(tx, {
        id: first.id,
        hash: first.hash,
        blockNumber: 1,
        blockHash: freshHash(),
        outcome: 'done',
        gasUsed: 1,
        gasPriceWei: '1',
      }),
    );
    expect(await turn(5_000)).toEqual(['worked']);
    // No better offer, and none at all, until it has waited once more.
    expect(await turn()).toEqual(['idle']);
    expect(await turn(4_999)).toEqual(['idle']);
    expect(await turn(60_000)).toEqual(['idle']);
    expect(world.offered).toHaveLength(1);
    expect(await transactionsById(kit().database.db, [first.id])).toMatchObject([{ hash: first.hash }]);
  });

  test('bytes that only use up a nonce are replaced by such bytes', async () => {
    const one = start();
    one.world.work = 1;
    await one.turn();
    const [stored] = await one.open();
    if (!stored) throw new Error('nothing was stored');
    const noop = { to: one.signer.address, data: '0x', valueWei: 0n, gas: 21_000n } as const;
    const fees = { maxFeePerGas: 30n * GWEI, maxPriorityFeePerGas: 2n * GWEI };
    const deps = { signer: one.signer, settings } as unknown as LaneDeps;
    const signed = await sign(deps, { nonce: 0, payload: noop, fees });
    const replacement = { ...signed, transactionId: stored.id, kind: 'noop', createdAt: 1 } as const;
    await kit().database.atomically((tx) => storeReplacement(tx, replacement));
    await one.lane.release();
    const two = start({ signer: one.signer });
    two.world.nowMs = one.world.nowMs;
    expect(await two.turn()).toEqual(['idle', '0: 30 2']);
    expect(await two.turn(5_000)).toEqual(['worked', '0: 33 2']);
    const [raw] = two.world.offered.slice(-1);
    expect(raw && parseTransaction(raw)).toMatchObject({
      to: one.signer.address.toLowerCase(),
      gas: 21_000n,
    });
    expect(raw && parseTransaction(raw).data).toBeUndefined();
    expect(await two.open()).toMatchObject([{ kind: 'noop' }]);
  });

  test('offering again what was stored may take longer than a lease lasts', async () => {
    const { world, turn, lane } = start({
      inFlightMax: 9,
      storeMax: 8,
      leaseMs: 2_000,
      resendAfterMs: 60_000,
    });
    world.work = 8;
    const stored = (await turn()).slice(1);
    expect(stored).toHaveLength(8);
    lane.reload();
    Object.assign(world, { work: 1, sendTakesMs: 300 });
    expect(await turn()).toEqual(['worked', ...stored, '8: 21 1']);
  });

  test('what another process took meanwhile is left to it', async () => {
    const { world, turn, lane, signer } = start({ inFlightMax: 9, storeMax: 4, leaseMs: 2_000 });
    world.work = 4;
    await turn();
    lane.reload();
    Object.assign(world, { work: 1, sendTakesMs: 1_100 });
    const { db, now } = kit().database;
    const pending = turn();
    await releaseLane(db, { address: signer.address, owner: 'test' });
    const other = { address: signer.address, purpose: 'setup', owner: 'other', now, forMs: 600_000 } as const;
    expect(await leaseLane(db, other)).toBe(2);
    expect((await pending).slice(0, 2)).toEqual(['idle', '0: 21 1']);
    expect(world.offered.length).toBeLessThan(4 + 4);
    expect(world.work).toBe(1);
  });

  test('blocks that are taken back while a turn asks the chain: what they held is offered with the next turn', async () => {
    const { world, turn, lane } = start();
    world.work = 1;
    expect(await turn()).toEqual(['worked', '0: 21 1']);
    world.nonces = { latest: 1, pending: 1 };
    lane.reload();
    world.afterNonce = () => {
      world.afterNonce = undefined;
      world.nonces = { latest: 0, pending: 0 };
      lane.reload();
    };
    expect(await turn()).toEqual(['worked']);
    expect(await turn()).toEqual(['idle', '0: 21 1']);
  });

  test('another process goes on with what the last one stored', async () => {
    const one = start();
    one.world.work = 2;
    one.world.answers = [UNKNOWN];
    await one.turn();
    await one.lane.release();
    const two = start({ signer: one.signer });
    expect(await two.turn()).toEqual(['idle', '0: 21 1', '1: 21 1']);
    expect(two.world.offered).toEqual([one.world.offered[0], expect.anything()]);
  });
});

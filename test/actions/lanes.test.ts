/** How far each lane is, and how an operator lets one go on behind nonces that others used. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  acceptPlanned,
  type LaneDeps,
  type NonceAcceptance,
  planAcceptance,
  showLanes,
} from '../../src/actions/manage-lanes.ts';
import { leaseLane } from '../../src/ledger/transactions/lanes.ts';
import { markSent, storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import { freshHash, freshKey } from '../kits/databases/databases.ts';
import { openLedger, START_MS, type TestLedger } from './ledger.ts';

const lane = `0x${'aB'.repeat(20)}` as const;
const idle = `0x${'cD'.repeat(20)}` as const;
let ledger: TestLedger;
/** The nonces of the lane in blocks, by block number. */
let nonces: Record<number, number>;
let head: number | undefined;
beforeEach(async () => {
  ledger = await openLedger();
  [nonces, head] = [{}, 20];
  for (const [address, purpose] of [[lane, 'payout'] as const, [idle, 'relay'] as const]) {
    const lease = { address, purpose, owner: 'a', now: ledger.businessTime(), forMs: 1 };
    await leaseLane(ledger.database.db, lease);
  }
});
afterEach(() => ledger.close());

/** A node that knows blocks 0 to `head`; a block's hash says its number. */
const deps = (): LaneDeps => ({
  database: ledger.database,
  finalityBlocks: 12,
  chain: {
    async block(which) {
      const number = which === 'latest' ? head : Number(which);
      return number === undefined ? undefined : ({ number, hash: `0x${number}` } as never);
    },
    nonce: async (address, hash) => (address === lane ? (nonces[Number(String(hash).slice(2))] ?? 0) : 0),
  } as LaneDeps['chain'],
});
const store = async (nonce: number) => {
  const id = freshKey('transaction');
  await storeTransaction(ledger.database.db, {
    id,
    lane,
    nonce,
    purpose: 'payout',
    epoch: 1,
    hash: freshHash(),
    raw: '0x02c0',
    maxFeeWei: 1n,
    priorityFeeWei: 1n,
    createdAt: START_MS,
  });
  return id;
};

describe('what is shown', () => {
  test('is each lane by the ledger, the newest block and the newest final one', async () => {
    await store(4);
    await markSent(ledger.database.db, [await store(5)]);
    nonces = { 20: 5, 8: 3 };
    expect(await showLanes(deps())).toEqual([
      {
        lane,
        purpose: 'payout',
        nonce: { ledger: 6, chain: 5, final: 3 },
        open: 2,
        foreign: false,
        accepted: [],
      },
      {
        lane: idle,
        purpose: 'relay',
        nonce: { ledger: null, chain: 0, final: 0 },
        open: 0,
        foreign: false,
        accepted: [],
      },
    ]);
    nonces = { 20: 6, 8: 6 };
    expect((await showLanes(deps()))[0]?.foreign).toBe(false);
    nonces = { 20: 7 };
    expect((await showLanes(deps()))[0]?.foreign).toBe(true);
  });

  test('on a chain that is younger than its finality, the first block is final', async () => {
    [head, nonces] = [5, { 5: 2, 0: 1 }];
    expect((await showLanes(deps()))[0]?.nonce).toEqual({ ledger: null, chain: 2, final: 1 });
    expect((await showLanes(deps()))[0]?.foreign).toBe(false);
  });

  test('is nothing while the node has no block', async () => {
    head = undefined;
    await expect(showLanes(deps())).rejects.toThrow('the node has no block');
    head = 20;
    const { chain } = deps();
    const block: LaneDeps['chain']['block'] = async (which) =>
      which === 'latest' ? chain.block(which) : undefined;
    await expect(showLanes({ ...deps(), chain: { ...chain, block } })).rejects.toThrow(
      'the node has no block',
    );
  });
});

describe('nonces that others used', () => {
  const plan = (account: string = lane) => planAcceptance(deps(), account);

  test('are accepted only on a lane of the ledger, where there are some, and once they are final', async () => {
    expect(await plan('0x1')).toEqual({ refusal: { code: 'unknown_lane', known: [lane, idle] } });
    expect(await plan(idle.toLowerCase())).toMatchObject({
      refusal: { code: 'nothing_foreign', lane: { lane: idle } },
    });
    nonces = { 20: 1, 8: 1 };
    expect(await plan()).toMatchObject({ refusal: { code: 'nothing_foreign' } });
    await store(0);
    expect(await plan()).toMatchObject({ refusal: { code: 'nothing_foreign' } });
    nonces = { 20: 3, 8: 1 };
    expect(await plan()).toMatchObject({ refusal: { code: 'not_final', lane: { foreign: true } } });
    nonces = { 20: 3, 8: 2 };
    expect(await plan(lane.toUpperCase())).toMatchObject({ fromNonce: 1, nextNonce: 2, lane: { lane } });
  });

  test('are kept with who accepted them, when and why; a lane that has gone on keeps nothing', async () => {
    await store(0);
    nonces = { 20: 3, 8: 3 };
    const planned = (await plan()) as NonceAcceptance;
    const by = { name: 'ops', reason: 'a wallet was used by hand', nowMs: START_MS };
    expect(await acceptPlanned(ledger, planned, by)).toBe(true);
    expect((await showLanes(deps()))[0]).toMatchObject({
      nonce: { ledger: 3, chain: 3 },
      foreign: false,
      accepted: [
        { fromNonce: 1, nextNonce: 3, by: 'ops', reason: by.reason, at: '2030-01-01T00:00:00.000Z' },
      ],
    });
    expect(await acceptPlanned(ledger, planned, by)).toBe(false);
    expect((await showLanes(deps()))[0]?.accepted).toHaveLength(1);
  });
});

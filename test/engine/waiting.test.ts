/** What requests wait for: a reward that is sent or included, a call that a block holds, and what is said of the wait. */
import { afterEach, describe, expect, test } from 'vitest';
import { alarmCodes, createAlarms } from '../../src/chain/alarms.ts';
import { deploymentBlockAt } from '../../src/chain/indexer/deployed-block.ts';
import { nextBlock } from '../../src/chain/indexer/next-block.ts';
import { createBlockLag, createReadingReport } from '../../src/chain/indexer/reading-progress.ts';
import { hasForm } from '../../src/chain/rpc/post.ts';
import { type Rpc, RpcAnswerError, RpcUnreachableError } from '../../src/chain/rpc/rpc.ts';
import { createRelayWaiters } from '../../src/chain/waiting/relay-waiters.ts';
import { createRewardWaiters } from '../../src/chain/waiting/reward-waiters.ts';
import { bindRelay, storeRelays } from '../../src/ledger/relay/queued-relays.ts';
import { bindRewards, failRewards, recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { relays } from '../../src/ledger/schema/relay.ts';
import {
  markFinal,
  markIncluded,
  markSent,
  storeTransaction,
} from '../../src/ledger/transactions/transactions.ts';
import { type LogFields, silentLog } from '../../src/lib/log.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
/** So long that the ledger is asked by nobody. */
const NEVER_MS = 1_000_000;
let sequences = 500_000;

onEveryDatabase(({ kit }) => {
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });
  const atomically = (work: Parameters<ReturnType<typeof kit>['database']['atomically']>[0]) =>
    kit().database.atomically(work);
  const store = async () => {
    const of = { id: freshKey('transaction'), hash: freshHash() };
    const rest = { nonce: 0, epoch: 1, raw: '0x02c0', maxFeeWei: 1n, priorityFeeWei: 1n } as const;
    await atomically((tx) =>
      storeTransaction(tx, {
        ...of,
        ...rest,
        lane: freshAddress(),
        purpose: 'payout',
        createdAt: NOW_MS,
      }),
    );
    return of;
  };
  const include = (of: { id: string; hash: `0x${string}` }, outcome: 'done' | 'reverted' = 'done') =>
    atomically((tx) =>
      markIncluded(tx, {
        ...of,
        blockNumber: 3,
        blockHash: freshHash(),
        outcome,
        gasUsed: 1,
        gasPriceWei: '1',
      }),
    );
  const grant = async () => {
    const sequence = sequences++;
    const id = `waiting${sequence}`;
    await atomically((tx) =>
      recordRewards(tx, [
        {
          sequence,
          id,
          brandId: freshAddress(),
          eventType: 'survey',
          userKey: 'user',
          wallet: freshAddress(),
          walletCreated: true,
          amount: 1,
          metadata: {},
          createdAt: NOW_MS,
        },
      ]),
    );
    return { sequence, id };
  };

  describe('rewards', () => {
    const open = (pollMs: number) => {
      const board = createRewardWaiters({ database: kit().database, log: silentLog, pollMs });
      stops.push(board.stop);
      return board;
    };
    const included = (
      of: { id: string; hash: `0x${string}` },
      outcome: 'done' | 'reverted',
      failures: [string, string][] = [],
    ) => ({ ...of, purpose: 'payout' as const, outcome, failures: new Map(failures) });

    test('hear of their own transaction at once, each as far as it waits', async () => {
      const board = open(NEVER_MS);
      const wait = (rewardId: string, until: 'sent' | 'included') =>
        board.waitFor({ rewardId, until, timeoutMs: NEVER_MS });
      expect(board.isAwaited()).toBe(false);
      const [sent, paid, failed] = [wait('a', 'sent'), wait('b', 'included'), wait('c', 'included')];
      expect(board.isAwaited()).toBe(true);
      const of = { id: 'transaction', hash: freshHash() };
      board.carried({ ...of, rewardIds: ['a', 'b', 'c', 'nobody'] });
      board.sent({ id: 'another' });
      board.sent(of);
      expect(await sent).toEqual({
        rewardId: 'a',
        hash: of.hash,
        status: 'sent',
        outcome: null,
        failure: null,
      });
      const other = freshHash();
      board.included(included({ id: of.id, hash: other }, 'done', [['c', 'zero_amount']]));
      const at = { hash: other, status: 'included', outcome: 'done' };
      expect(await paid).toEqual({ rewardId: 'b', failure: null, ...at });
      expect(await failed).toEqual({ rewardId: 'c', failure: 'zero_amount', ...at });
      expect(board.isAwaited()).toBe(false);
    });

    test('of a transaction without effect wait on; what is carried without a waiter changes nothing', async () => {
      const board = open(NEVER_MS);
      const waits = board.waitFor({ rewardId: 'd', until: 'sent', timeoutMs: NEVER_MS });
      const of = { id: 'reverts', hash: freshHash() };
      board.sent(of);
      board.included(included(of, 'done'));
      board.carried({ ...of, rewardIds: ['nobody'] });
      board.carried({ ...of, rewardIds: ['d'] });
      board.included(included(of, 'reverted'));
      // Its block has been read: nothing more is known of it here.
      board.sent(of);
      expect(board.isAwaited()).toBe(true);
      const next = { id: 'next', hash: freshHash() };
      board.carried({ ...next, rewardIds: ['d'] });
      board.sent(next);
      expect(await waits).toMatchObject({ hash: next.hash, status: 'sent' });
    });

    test('that another process pays are seen in the ledger', async () => {
      const board = open(5);
      const [sent, paid, failed, open_] = [await grant(), await grant(), await grant(), await grant()];
      const wait = (of: { id: string }, until: 'sent' | 'included', timeoutMs = NEVER_MS) =>
        board.waitFor({ rewardId: of.id, until, timeoutMs });
      const waits = [wait(sent, 'sent'), wait(paid, 'included'), wait(failed, 'included')];
      const [one, two] = [await store(), await store()];
      await atomically((tx) =>
        bindRewards(tx, { sequences: [sent.sequence, open_.sequence], transactionId: one.id }),
      );
      await atomically((tx) => bindRewards(tx, { sequences: [paid.sequence], transactionId: two.id }));
      await markSent(kit().database.db, [one.id, two.id]);
      expect(await waits[0]).toMatchObject({ rewardId: sent.id, status: 'sent', hash: one.hash });
      await include(two);
      expect(await waits[1]).toMatchObject({ rewardId: paid.id, status: 'included', outcome: 'done' });
      await atomically((tx) => failRewards(tx, { sequences: [failed.sequence], failure: 'reverted' }));
      expect(await waits[2]).toMatchObject({ rewardId: failed.id, failure: 'reverted' });
      await atomically((tx) => markFinal(tx, [two.id]));
      expect(await wait(paid, 'included')).toMatchObject({ status: 'final', outcome: 'done' });
      await include(one, 'reverted');
      expect(await wait(open_, 'included', 50)).toBeUndefined();
      // One that is stored and not sent yet.
      const [stored, late] = [await store(), await grant()];
      await atomically((tx) => bindRewards(tx, { sequences: [late.sequence], transactionId: stored.id }));
      expect(await wait(late, 'sent', 50)).toBeUndefined();
      expect(board.isAwaited()).toBe(false);
    });
  });

  describe('relayed calls', () => {
    const queue = async () => {
      const id = freshKey('call');
      await atomically((tx) =>
        storeRelays(tx, [
          {
            id,
            lane: freshAddress(),
            payer: freshAddress(),
            userAddress: freshAddress(),
            recipient: freshAddress(),
            data: '0x',
            valueWei: '0',
            gas: 1,
            permit: null,
            reservedGwei: 1,
            budgetDay: 1,
            createdAt: NOW_MS,
          },
        ]),
      );
      const rows = await kit().database.db.select().from(relays);
      return { id, position: rows.find((row) => row.id === id)?.position ?? -1 };
    };
    const open = (pollMs: number) => {
      const board = createRelayWaiters({ database: kit().database, log: silentLog, pollMs });
      stops.push(board.stop);
      return board;
    };

    test.each([
      ['when a block was read here', NEVER_MS],
      ['now and then', 5],
    ])('are looked for %s', async (_, pollMs) => {
      const board = open(pollMs);
      const [call, other] = [await queue(), await queue()];
      board.look();
      expect(board.isAwaited()).toBe(false);
      const waits = board.waitFor({ id: call.id, timeoutMs: NEVER_MS });
      const late = board.waitFor({ id: other.id, timeoutMs: 400 });
      const carrier = await store();
      await atomically((tx) =>
        bindRelay(tx, { position: call.position, part: 'call', transactionId: carrier.id }),
      );
      await include(carrier);
      board.look();
      board.look();
      expect(await waits).toMatchObject({ id: call.id, status: 'included', hash: carrier.hash });
      // The other one's time is over: it is told how far it has come.
      expect(await late).toMatchObject({ id: other.id, status: null, hash: null });
      expect(board.isAwaited()).toBe(false);
    });

    test('are waited for until a block holds them, final as it may be by then', async () => {
      const board = open(NEVER_MS);
      const call = await queue();
      const waits = board.waitFor({ id: call.id, timeoutMs: NEVER_MS });
      const carrier = await store();
      await atomically((tx) =>
        bindRelay(tx, { position: call.position, part: 'call', transactionId: carrier.id }),
      );
      // No block holds it yet: this look tells nobody.
      board.look();
      await store();
      await include(carrier);
      await atomically((tx) => markFinal(tx, [carrier.id]));
      board.look();
      expect(await waits).toMatchObject({ id: call.id, status: 'final', hash: carrier.hash });
    });
  });
});

describe('how far the ledger is behind the chain', () => {
  test('a block counts as missed from the look that finds it readable until it is read', () => {
    let nowMs = 0;
    const lag = createBlockLag({ confirmations: 3, nowMs: () => nowMs });
    const look = (head: number, read: number | undefined, atMs: number) => {
      nowMs = atMs;
      return lag.look({ head, read });
    };
    expect(look(1, undefined, 10)).toBe(0);
    expect(look(2, undefined, 20)).toBe(0);
    expect(look(2, undefined, 25)).toBe(5);
    expect(look(10, 0, 30)).toBe(0);
    expect(look(12, 7, 50)).toBe(20);
    expect(look(12, 8, 60)).toBe(0);
    expect(look(12, 9, 75)).toBe(15);
    expect(look(12, 10, 80)).toBe(0);
    expect(look(12, 10, 90)).toBe(0);
    // What had been read was taken back, and is new on the shorter chain.
    expect(look(11, 8, 95)).toBe(0);
    expect(look(11, 9, 97)).toBe(0);
    // A shorter chain has less to read.
    expect(look(20, 10, 100)).toBe(0);
    expect(look(15, 10, 110)).toBe(10);
    expect(look(15, 13, 120)).toBe(0);
  });

  test('a long reading is a line of the log after two seconds and then every ten, and a text until it is over', () => {
    const lines: LogFields[] = [];
    let nowMs = 0;
    const log = { ...silentLog, info: (fields: LogFields) => lines.push(fields) };
    const stopwatch = () => {
      const sinceMs = nowMs;
      return () => nowMs - sinceMs;
    };
    const report = createReadingReport({ log: log as typeof silentLog, stopwatch });
    const read = (block: number, atMs: number) => {
      nowMs = atMs;
      report.onReading({ block, of: 100, head: 100 });
    };
    expect(report.text()).toBeUndefined();
    read(4, 0);
    expect(report.text()).toBe('reading block 5 of 100');
    read(20, 1_999);
    expect(lines).toEqual([]);
    read(21, 2_000);
    expect(lines).toEqual([{ block: 21, of: 100, perSecond: 8.5, remainingSeconds: 10 }]);
    read(30, 11_999);
    expect(lines).toHaveLength(1);
    read(31, 12_000);
    expect(lines).toHaveLength(2);
    read(100, 40_000);
    expect([report.text(), lines.length]).toEqual([undefined, 2]);
    // Another reading, after the node was away for a while.
    read(20, 50_000);
    read(21, 51_999);
    expect(lines).toHaveLength(2);
  });

  test('a newer block than the last one ends the wait; so do the time limit and the caller', async () => {
    const heads = [undefined, 7, 7, 8, 9];
    const asked: (number | undefined)[] = [];
    const chain = {
      block: async (which: unknown) => {
        expect(which).toBe('latest');
        if (asked.length === 1) {
          asked.push(-1);
          throw new RpcUnreachableError('eth_getBlockByNumber', 'no answer');
        }
        const number = heads[asked.filter((one) => one !== -1).length];
        asked.push(number);
        return number === undefined
          ? undefined
          : ({ number, hash: '0x1', parentHash: '0x0', timestampSeconds: 1, baseFeeWei: 1n } as const);
      },
    };
    const of = { after: undefined, pollMs: 1, forMs: NEVER_MS, isOver: () => false };
    await nextBlock(chain, of);
    expect(asked).toEqual([undefined, -1, 7, 7, 8]);
    await nextBlock(chain, { ...of, after: 8 });
    expect(asked).toHaveLength(6);
    await nextBlock(chain, { ...of, after: 8, isOver: () => true });
    await nextBlock(chain, { ...of, after: 8, forMs: 0 });
    expect(asked).toHaveLength(6);
    const fails = { block: () => Promise.reject(new Error('something else')) };
    await expect(nextBlock(fails, of)).rejects.toThrow('something else');
  });
});

describe('the block of a deployment', () => {
  const contracts = {
    token: freshAddress(),
    escrow: freshAddress(),
    perks: freshAddress(),
    pointsSale: freshAddress(),
  };
  const HEAD = 40;
  /** The token is there from block 10 on, the escrow from 12 on. */
  const rpc: Rpc = async (method, [address, at]) => {
    if (method !== 'eth_getCode') throw new Error(`no answer to ${method}`);
    const first = { [contracts.token]: 10, [contracts.escrow]: 12 }[String(address)] ?? 13;
    return Number(at) >= first ? '0x60' : '0x';
  };
  const at = (block: number, nodes = [rpc]) => deploymentBlockAt({ nodes, head: HEAD }, { contracts, block });

  test.each([
    [0, { kind: 'too_early', first: 10 }],
    [9, { kind: 'too_early', first: 10 }],
    [10, { kind: 'right' }],
    [12, { kind: 'right' }],
    [13, { kind: 'too_late', first: 10 }],
    [40, { kind: 'too_late', first: 10 }],
    [41, { kind: 'not_mined', head: HEAD }],
  ])('%i: %o', async (block, expected) => {
    expect(await at(block)).toEqual(expected);
  });

  test('a node that keeps no old state is passed over; any other error is not', async () => {
    const pruned: Rpc = async () => {
      throw new RpcAnswerError('eth_getCode', { code: -32000, message: 'missing trie node' });
    };
    const blank: Rpc = async () => null;
    const broken: Rpc = async () => {
      throw new Error('something else');
    };
    expect(await at(10, [pruned, blank, rpc])).toEqual({ kind: 'right' });
    expect(await at(10, [pruned])).toEqual({ kind: 'unknown' });
    await expect(at(10, [broken, rpc])).rejects.toThrow('something else');
  });
});

test('an alarm is told once while it lasts, with its newest facts, and ends by itself where it can', () => {
  const lines: string[] = [];
  const line = (fields: LogFields, text: string) => lines.push(`${text} ${fields.alarm} ${fields.about}`);
  let nowMs = 1;
  const alarms = createAlarms({
    now: () => nowMs,
    log: { ...silentLog, error: line, info: line } as unknown as typeof silentLog,
  });
  alarms.raise('block_lag', 'a', { blocks: 1 });
  nowMs = 2;
  alarms.raise('block_lag', 'a', { blocks: 2 });
  alarms.raise('block_lag', 'b');
  expect(alarms.list()).toEqual([
    { code: 'block_lag', about: 'a', facts: { blocks: 2 }, sinceMs: 1 },
    { code: 'block_lag', about: 'b', facts: {}, sinceMs: 2 },
  ]);
  let isOver = false;
  alarms.raise('spend_limit', 'a', {}, { isOver: () => isOver });
  alarms.clear('gas_money_low', 'a');
  alarms.clear('block_lag', 'a');
  expect(alarms.list().map(({ code, about }) => `${code} ${about}`)).toEqual([
    'block_lag b',
    'spend_limit a',
  ]);
  isOver = true;
  alarms.raise('block_lag', 'b');
  expect(lines).toEqual([
    'alarm block_lag a',
    'alarm block_lag b',
    'alarm spend_limit a',
    'alarm is over block_lag a',
    'alarm is over spend_limit a',
  ]);
  expect(new Set(alarmCodes).size).toBe(24);
});

describe('the form of answers', () => {
  const hash = `0x${'0a'.repeat(32)}`;
  const log = { address: hash, topics: [hash], data: '0x', transactionHash: hash };
  const receipt = {
    transactionHash: hash,
    blockHash: hash,
    status: '0x1',
    gasUsed: '0x1',
    effectiveGasPrice: '0x1',
    logs: [log],
  };
  const block = { number: '0x1', hash, parentHash: hash, timestamp: '0x1' };
  test.each<[string, unknown, boolean]>([
    ['eth_blockNumber', '0x1', true],
    ['eth_blockNumber', '0xFF', true],
    ['eth_blockNumber', `0x${'f'.repeat(64)}`, true],
    ['eth_blockNumber', `0x${'f'.repeat(65)}`, false],
    ['eth_blockNumber', '0x', false],
    ['eth_blockNumber', ' 0x1', false],
    ['eth_blockNumber', '0x1 ', false],
    ['eth_blockNumber', 1, false],
    ['eth_blockNumber', ['0x1'], false],
    ['eth_blockNumber', null, false],
    ['eth_call', '0x', true],
    ['eth_call', '0xAb', true],
    ['eth_call', '0xabc', false],
    ['eth_call', ['0xab'], false],
    ['eth_call', 'x0xab', false],
    ['eth_call', '0xabz', false],
    ['eth_getBlockByNumber', block, true],
    ['eth_getBlockByNumber', null, true],
    ['eth_getBlockByNumber', undefined, false],
    ['eth_getBlockByNumber', 'text', false],
    ...Object.keys(block).map((name): [string, unknown, boolean] => [
      'eth_getBlockByNumber',
      { ...block, [name]: undefined },
      false,
    ]),
    ['eth_getBlockReceipts', [receipt], true],
    ['eth_getBlockReceipts', [], true],
    ['eth_getBlockReceipts', null, true],
    ['eth_getBlockReceipts', receipt, false],
    ['eth_getBlockReceipts', [receipt, null], false],
    ...Object.keys(receipt).map((name): [string, unknown, boolean] => [
      'eth_getTransactionReceipt',
      { ...receipt, [name]: undefined },
      false,
    ]),
    ['eth_getTransactionReceipt', null, true],
    ['eth_getLogs', [log], true],
    ['eth_getLogs', null, false],
    ...Object.keys(log).map((name): [string, unknown, boolean] => [
      'eth_getLogs',
      [{ ...log, [name]: undefined }],
      false,
    ]),
    ['eth_getTransactionByHash', { input: '0x' }, true],
    ['eth_getTransactionByHash', {}, false],
    ['eth_simulateV1', [], true],
    ['eth_simulateV1', {}, false],
    ['eth_syncing', { anything: true }, true],
  ])('%s %j: %s', (method, answer, expected) => {
    expect(hasForm(method, answer)).toBe(expected);
  });
});

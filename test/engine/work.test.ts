/** What the lanes' work is made of: batches of rewards, calls with their permits, and gas money for the wallets that send. */
import { eq } from 'drizzle-orm';
import { encodeAbiParameters, type Hex, keccak256 } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { createAlarms } from '../../src/chain/alarms.ts';
import { roleId } from '../../src/chain/contracts/deployment-steps.ts';
import { decodePayoutBatch, encodePayoutBatch } from '../../src/chain/contracts/payout-batch.ts';
import { keysDerivedFrom } from '../../src/chain/lane/local-key.ts';
import { createChainClient } from '../../src/chain/rpc/client.ts';
import { RpcAnswerError, RpcUnreachableError } from '../../src/chain/rpc/rpc.ts';
import { tendGasWallets } from '../../src/chain/work/gas-keeper.ts';
import { payoutWork, settlePayouts } from '../../src/chain/work/payout-work.ts';
import { createRelayLanes, type RelayLanesDeps } from '../../src/chain/work/relay-lanes.ts';
import { relayWork } from '../../src/chain/work/relay-work.ts';
import type { Queries } from '../../src/ledger/database/database.ts';
import { listGasWallets, nextTopUp, requestTopUp } from '../../src/ledger/relay/gas-wallets.ts';
import { type NewRelay, storeRelays } from '../../src/ledger/relay/queued-relays.ts';
import { findReward, recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { brands } from '../../src/ledger/schema/brands.ts';
import { gasTopUps, gasWallets, relays } from '../../src/ledger/schema/relay.ts';
import { rewards } from '../../src/ledger/schema/rewards.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { silentLog } from '../../src/lib/log.ts';
import { dearestCallGas } from '../../src/rules/relay-policy.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
const GWEI = 10n ** 9n;
const clock = { now: () => NOW_MS, sleep: async () => {} };
const FEES = { maxFeePerGas: GWEI, maxPriorityFeePerGas: 1n };

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  const atomically = <T>(work: (tx: Queries) => Promise<T>) => kit().database.atomically(work);

  describe('payouts', () => {
    const escrow = freshAddress();
    const grant = async (count: number) => {
      await db().update(rewards).set({ failure: 'of another test' });
      const rows = Array.from({ length: count }, () => ({
        sequence: 600_000 + Number(BigInt(freshHash())),
        id: freshKey('reward'),
        brandId: freshAddress(),
        eventType: 'survey',
        userKey: 'user',
        wallet: freshAddress(),
        walletCreated: true,
        amount: 3,
        metadata: {},
        createdAt: NOW_MS,
      }));
      await atomically((tx) => recordRewards(tx, rows));
      return rows;
    };
    const start = (settings: { batchMax?: number; offerMaxWei?: bigint } = {}) => {
      const told: object[] = [];
      const work = payoutWork({
        settings: { escrow, batchMax: 3, offerMaxWei: 10n ** 18n, ...settings },
        account: freshAddress(),
        rpc: async () => Promise.reject(new Error('nothing is tried out here')),
        progress: { carried: (of) => told.push(of), sent: ({ id }) => told.push({ sent: id }) },
      });
      return { work, told };
    };

    test('take the oldest that wait, as many as a batch has, and say which', async () => {
      const rows = await grant(4);
      const { work, told } = start();
      const [payload] = await atomically((tx) => work.bindNext(tx, ['first'], FEES));
      expect(payload).toMatchObject({ to: escrow, valueWei: 0n });
      expect(decodePayoutBatch(payload?.data ?? '0x')).toEqual(
        rows.slice(0, 3).map(({ sequence, brandId, wallet, amount }) => ({
          sequence: BigInt(sequence),
          brandId,
          to: wallet,
          amount: BigInt(amount),
        })),
      );
      work.stored?.({ id: 'first', hash: '0x01' });
      work.stored?.({ id: 'first', hash: '0x01' });
      work.sent?.({ id: 'first', hash: '0x01' });
      const ids = rows.slice(0, 3).map(({ id }) => id);
      expect(told).toEqual([
        { id: 'first', hash: '0x01', rewardIds: ids },
        { id: 'first', hash: '0x01', rewardIds: [] },
        { sent: 'first' },
      ]);
      const bound = await db().select().from(rewards);
      const carried = (id: string) => bound.find((row) => row.id === id)?.transactionId;
      expect(rows.map(({ id }) => carried(id))).toEqual(['first', 'first', 'first', null]);
      await atomically((tx) => work.bindNext(tx, ['second'], FEES));
      expect(await atomically((tx) => work.bindNext(tx, ['third'], FEES))).toEqual([]);
      expect((await findReward(db(), rows[3]?.id ?? ''))?.reward.transactionId).toBe('second');
    });

    test('are fewer when all their gas would offer more than nodes take, but never none', async () => {
      await grant(3);
      const gasOf = async (settings: Parameters<typeof start>[0]) => {
        const { work } = start(settings);
        let payload: Awaited<ReturnType<typeof work.bindNext>>[number] | undefined;
        let bound = 0;
        await atomically(async (tx) => {
          const transactionId = freshKey('dropped');
          [payload] = await work.bindNext(tx, [transactionId], FEES);
          bound = (await tx.select().from(rewards).where(eq(rewards.transactionId, transactionId))).length;
          throw new Error('taken back');
        }).catch(() => {});
        const { length: count } = decodePayoutBatch(payload?.data ?? '0x');
        // Whoever is not in the batch waits on.
        expect(bound).toBe(count);
        return { gas: payload?.gas ?? 0n, count };
      };
      const all = await gasOf({});
      expect(all.count).toBe(3);
      expect(await gasOf({ offerMaxWei: all.gas * GWEI })).toEqual(all);
      const less = await gasOf({ offerMaxWei: all.gas * GWEI - 1n });
      expect(less.count).toBe(2);
      expect(less.gas).toBeLessThan(all.gas);
      expect((await gasOf({ offerMaxWei: 1n })).count).toBe(1);
    });

    test('that settle without transactions change nothing', async () => {
      await atomically((tx) => settlePayouts(tx, { transactions: [], nowMs: NOW_MS }));
      expect(() => encodePayoutBatch([])).toThrow('at least one');
    });
  });

  describe('relayed calls', () => {
    const queue = async (change: Partial<NewRelay> = {}) => {
      const wish = {
        id: freshKey('call'),
        lane: freshAddress(),
        payer: freshAddress(),
        userAddress: freshAddress(),
        recipient: freshAddress(),
        data: '0xab',
        valueWei: '5',
        gas: 90_000,
        permit: null,
        reservedGwei: 1,
        budgetDay: 1,
        createdAt: NOW_MS,
        ...change,
      } satisfies NewRelay;
      await atomically((tx) => storeRelays(tx, [wish]));
      return wish;
    };
    const permit = { to: freshAddress(), data: '0xcd', gas: 50_000 } as const;
    const topUp = (lane: Hex) =>
      atomically((tx) =>
        requestTopUp(tx, {
          id: freshKey('top-up'),
          lane,
          wallet: freshAddress(),
          amountWei: 77n,
          nowMs: NOW_MS,
        }),
      );

    test('leave one after the other, each permit just before its call, and gas money not between', async () => {
      const lane = freshAddress();
      const call = await queue({ lane, permit });
      const work = relayWork({ lane, fundsOthers: true, onSent: () => {} });
      const next = async (of = work) => {
        const [payload] = await atomically((tx) => of.bindNext(tx, [freshKey('transaction')], FEES));
        return payload && [payload.data, payload.valueWei, payload.gas, payload.to];
      };
      expect(await next()).toEqual(['0xcd', 0n, 50_000n, permit.to]);
      await topUp(lane);
      expect(await next()).toEqual(['0xab', 5n, 90_000n, call.recipient]);
      const later = await queue({ lane });
      // Gas money goes before calls whose permit is not on its way.
      const [wallet] = [(await atomically((tx) => nextTopUp(tx, lane)))?.wallet];
      expect(await next()).toEqual(['0x', 77n, 21_000n, wallet]);
      expect(await next()).toEqual(['0xab', 5n, 90_000n, later.recipient]);
      expect(await next()).toBeUndefined();
      await topUp(lane);
      expect(await next(relayWork({ lane, fundsOthers: false, onSent: () => {} }))).toBeUndefined();
    });

    test('have a lane for each wallet whose key is ours', async () => {
      await db().delete(gasWallets);
      await db().delete(gasTopUps);
      await db().delete(relays);
      const keys = keysDerivedFrom(generatePrivateKey());
      const wallet = (payer: Hex | 'service', keyIndex: number | null, address: Hex) => ({
        payer,
        keyIndex,
        address,
        ready: true,
        createdAt: NOW_MS,
      });
      const [own, brands_, wrong] = [keys(null).address, keys(4).address, freshAddress()];
      await db()
        .insert(gasWallets)
        .values([
          wallet('service', null, own),
          wallet(freshAddress(), 4, brands_.toLowerCase() as Hex),
          wallet(freshAddress(), 5, wrong),
        ]);
      const alarms = createAlarms({ now: clock.now, log: silentLog });
      const lanes = createRelayLanes({
        database: kit().database,
        keys,
        alarms,
        onSent: () => {},
        lane: {},
        log: silentLog,
        realClock: clock,
      } as unknown as RelayLanesDeps);
      const first = await lanes.at(own);
      expect(first?.address).toBe(own);
      expect(await lanes.at(own)).toBe(first);
      expect((await lanes.at(brands_.toLowerCase() as Hex))?.address).toBe(brands_);
      expect(await lanes.at(freshAddress())).toBeUndefined();
      expect(alarms.list()).toEqual([]);
      expect(await lanes.at(wrong)).toBeUndefined();
      expect(alarms.list()).toMatchObject([{ code: 'gas_wallet_key', about: wrong, facts: { keyIndex: 5 } }]);
      expect([...lanes.opened.keys()]).toEqual([own, brands_.toLowerCase()]);
      const [queued, funded] = [await queue(), freshAddress()];
      await topUp(funded);
      const found = await lanes.withWork();
      expect(found).toEqual(expect.arrayContaining([queued.lane, funded]));
    });
  });

  describe('gas wallets', () => {
    const callWei = BigInt(dearestCallGas) * (20n * GWEI + 1n);
    async function start() {
      await db().delete(gasWallets);
      await db().delete(gasTopUps);
      await db().delete(brands);
      const brandId = freshAddress();
      await db()
        .insert(brands)
        .values({
          brandId,
          name: 'Demo',
          automation: true,
          verificationSecret: 'x',
          createdAt: 1,
          profile: {} as never,
        });
      const keys = keysDerivedFrom(generatePrivateKey());
      const alarms = createAlarms({ now: clock.now, log: silentLog });
      const world = {
        baseFeeWei: (10n * GWEI) as bigint | undefined,
        balances: new Map<string, bigint>(),
        relayers: new Set<string>(),
        nudged: [] as Hex[],
      };
      const tend = () =>
        tendGasWallets({
          database: kit().database,
          keys,
          clock,
          alarms,
          random: secureRandom(clock),
          chain: {
            block: async () =>
              world.baseFeeWei === undefined
                ? undefined
                : ({
                    number: 1,
                    hash: '0x1',
                    parentHash: '0x0',
                    timestampSeconds: 1,
                    baseFeeWei: world.baseFeeWei,
                  } as const),
            balanceWei: async (address) => world.balances.get(address) ?? 0n,
          },
          rpc: async (_, [call]) => {
            const { data } = call as { data: string };
            const mayRelay = data.includes(roleId('RELAYER_ROLE').slice(2));
            const account = `0x${data.slice(-40)}`;
            return encodeAbiParameters([{ type: 'bool' }], [mayRelay && world.relayers.has(account)]);
          },
          perks: freshAddress(),
          nudge: (lane) => world.nudged.push(lane),
          settings: {
            lowWei: 10n * callWei,
            fullWei: 30n * callWei,
            fees: { feeCapWei: 100n * GWEI, priorityFeeWei: 1n },
          },
        });
      await tend();
      const wallets = await listGasWallets(db());
      const addressOf = (payer: string) => wallets.find((one) => one.payer === payer)?.address ?? '0x';
      const [own, theirs] = [addressOf('service'), addressOf(brandId)];
      const ready = async () =>
        (await listGasWallets(db()))
          .filter((one) => one.ready)
          .map(({ address }) => (address === own ? 'own' : 'theirs'))
          .sort();
      return {
        world,
        tend,
        ready,
        own,
        theirs,
        wallets,
        alarms: () => alarms.list().map(({ code }) => code),
        facts: () => alarms.list()[0]?.facts,
      };
    }

    test('each payer gets one; it is ready with the role and the money for the dearest call', async () => {
      const { world, tend, ready, own, theirs, wallets, alarms, facts } = await start();
      expect(wallets).toHaveLength(2);
      expect([alarms(), facts()]).toEqual([['gas_reserve_low'], { balanceWei: '0' }]);
      world.balances.set(own, 10n * callWei);
      world.balances.set(theirs, callWei);
      await tend();
      expect([await ready(), alarms()]).toEqual([[], []]);
      expect(await listGasWallets(db())).toHaveLength(2);
      for (const address of [own, theirs]) world.relayers.add(address.toLowerCase());
      await tend();
      expect(await ready()).toEqual(['own', 'theirs']);
      world.balances.set(theirs, callWei - 1n);
      await tend();
      expect(await ready()).toEqual(['own']);
      world.balances.set(own, 10n * callWei - 1n);
      await tend();
      expect([await ready(), alarms()]).toEqual([['own'], ['gas_reserve_low']]);
    });

    test.each([
      ['above the cap', 200n * GWEI],
      ['not known', undefined],
    ])('while gas is %s, the cap is what a call may cost', async (_, baseFeeWei) => {
      const { world, tend, ready, own } = await start();
      const dearest = BigInt(dearestCallGas) * 100n * GWEI;
      world.relayers.add(own.toLowerCase());
      world.baseFeeWei = baseFeeWei;
      world.balances.set(own, dearest - 1n);
      await tend();
      expect(await ready()).toEqual([]);
      world.balances.set(own, dearest);
      await tend();
      expect(await ready()).toEqual(['own']);
    });

    test('a brand’s that runs low asks for gas money once, and only where it may relay', async () => {
      const { world, tend, own, theirs } = await start();
      world.balances.set(own, 100n * callWei);
      world.balances.set(theirs, 4n * callWei);
      await tend();
      expect(await db().select().from(gasTopUps)).toEqual([]);
      world.relayers.add(theirs.toLowerCase());
      world.balances.set(theirs, 10n * callWei);
      await tend();
      expect(world.nudged).toEqual([]);
      world.balances.set(theirs, 10n * callWei - 1n);
      await tend();
      await tend();
      expect(world.nudged).toEqual([own]);
      expect(await db().select().from(gasTopUps)).toMatchObject([
        { lane: own, wallet: theirs, amountWei: String(20n * callWei + 1n), transactionId: null },
      ]);
    });
  });
});

describe('a chain in values', () => {
  const answers: Record<string, unknown> = {
    eth_chainId: '0x7a69',
    eth_getTransactionCount: '0x5',
    eth_getBalance: '0xffffffffffffffffff',
    eth_getCode: '0x60',
  };
  const asked: unknown[] = [];
  const client = createChainClient(async (method, params) => {
    asked.push([method, ...params]);
    const answer = answers[method];
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const block = { number: '0x10', hash: '0xaa', parentHash: '0xbb', timestamp: '0x20' };
  const log = { address: '0x01', topics: [], data: '0x', logIndex: '0x3', transactionHash: '0x02' };
  const receipt = {
    transactionHash: '0x02',
    blockHash: '0xaa',
    status: '0x1',
    gasUsed: '0x5',
    effectiveGasPrice: '0x6',
    logs: [log],
  };
  const read = { ...log, logIndex: 3 };

  test('numbers, balances and code', async () => {
    expect([await client.chainId(), await client.code('0x01')]).toEqual([31_337, '0x60']);
    expect(asked).toEqual([['eth_chainId'], ['eth_getCode', '0x01', 'latest']]);
    expect(await client.balanceWei('0x01')).toBe(2n ** 72n - 1n);
    expect([await client.nonce('0x01'), await client.nonce('0x01', 'pending')]).toEqual([5, 5]);
    await client.nonce('0x01', '0xaa');
    expect(asked.slice(-4)).toEqual([
      ['eth_getBalance', '0x01', 'latest'],
      ['eth_getTransactionCount', '0x01', 'latest'],
      ['eth_getTransactionCount', '0x01', 'pending'],
      ['eth_getTransactionCount', '0x01', { blockHash: '0xaa' }],
    ]);
  });

  test('blocks, with and without a base fee and transactions', async () => {
    answers.eth_getBlockByNumber = { ...block, baseFeePerGas: '0x7', transactions: ['0x02'] };
    const told = { number: 16, hash: '0xaa', parentHash: '0xbb', timestampSeconds: 32 };
    expect(await client.block('latest')).toEqual({ ...told, baseFeeWei: 7n, transactions: ['0x02'] });
    answers.eth_getBlockByNumber = block;
    expect(await client.block(16)).toEqual({ ...told, baseFeeWei: 0n });
    answers.eth_getBlockByNumber = null;
    expect(await client.block(17)).toBeUndefined();
    expect(asked.slice(-3)).toEqual([
      ['eth_getBlockByNumber', 'latest', false],
      ['eth_getBlockByNumber', '0x10', false],
      ['eth_getBlockByNumber', '0x11', false],
    ]);
  });

  test('receipts and logs', async () => {
    const told = {
      transactionHash: '0x02',
      blockHash: '0xaa',
      succeeded: true,
      gasUsed: 5n,
      effectiveGasPriceWei: 6n,
      logs: [read],
    };
    answers.eth_getTransactionReceipt = receipt;
    expect(await client.receipt('0x02')).toEqual(told);
    answers.eth_getTransactionReceipt = { ...receipt, status: '0x0', l1Fee: '0x9' };
    expect(await client.receipt('0x02')).toEqual({ ...told, succeeded: false, l1FeeWei: 9n });
    answers.eth_getTransactionReceipt = null;
    expect(await client.receipt('0x02')).toBeUndefined();
    answers.eth_getBlockReceipts = [receipt];
    expect(await client.blockReceipts(16)).toEqual([told]);
    answers.eth_getBlockReceipts = null;
    expect(await client.blockReceipts(16)).toBeUndefined();
    answers.eth_getLogs = [log];
    expect(await client.logsIn('0xaa', '0x01')).toEqual([read]);
    expect(asked.slice(-2)).toEqual([
      ['eth_getBlockReceipts', '0x10'],
      ['eth_getLogs', { blockHash: '0xaa', address: '0x01' }],
    ]);
  });

  test('signed bytes: accepted under their own hash alone, every error is sorted', async () => {
    const raw = '0x02c0';
    answers.eth_sendRawTransaction = '0xe0d3bb9ba8fbfac80a9efc95ed59d0ba0b3de8a5d4d7b5a8a1ee4a6ee6fa9a8f';
    expect(await client.sendRaw(raw)).toEqual({ kind: 'unknown', why: 'another hash' });
    answers.eth_sendRawTransaction = keccak256(raw);
    expect(await client.sendRaw(raw)).toEqual({ kind: 'accepted' });
    expect(asked.at(-1)).toEqual(['eth_sendRawTransaction', raw]);
    answers.eth_sendRawTransaction = new RpcAnswerError('send', { code: -32000, message: 'already known' });
    expect(await client.sendRaw(raw)).toEqual({ kind: 'known' });
    answers.eth_sendRawTransaction = new RpcUnreachableError('send', 'no answer');
    expect(await client.sendRaw(raw)).toEqual({ kind: 'unknown', why: 'no answer' });
  });
});

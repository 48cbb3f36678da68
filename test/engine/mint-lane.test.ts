/** The mint lane against a real ledger and a node that answers what a test says: what is tried out, sent, given up, and tried out again. */
import { eq, sql } from 'drizzle-orm';
import {
  decodeFunctionData,
  encodeErrorResult,
  getAddress,
  type Hex,
  hexToBigInt,
  parseTransaction,
} from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { afterEach, expect, test } from 'vitest';
import { createAlarms } from '../../src/chain/alarms.ts';
import { pointsSaleAbi } from '../../src/chain/contracts/abis.ts';
import { mintGasLimit, saleMintData } from '../../src/chain/contracts/sale-mint.ts';
import { localKeySigner } from '../../src/chain/lane/local-key.ts';
import type { ChainClient } from '../../src/chain/rpc/client.ts';
import { RpcUnreachableError } from '../../src/chain/rpc/rpc.ts';
import { createMintWaiters } from '../../src/chain/waiting/mint-waiters.ts';
import { createMints, settleMints } from '../../src/chain/work/mint-work.ts';
import { bindMint, waitingMints } from '../../src/ledger/payments/mint-queue.ts';
import { planMint, readOperatorMints, recordMint } from '../../src/ledger/payments/mints.ts';
import { operatorMints } from '../../src/ledger/schema/payments.ts';
import { transactions } from '../../src/ledger/schema/transactions.ts';
import { leaseLane } from '../../src/ledger/transactions/lanes.ts';
import { markIncluded, unsettledTransactions } from '../../src/ledger/transactions/transactions.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { type LogFields, silentLog } from '../../src/lib/log.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';
import { expectRest } from './at-rest.ts';
import { nothingLate } from './lane-kit.ts';

const GWEI = 10n ** 9n;
const NOW_MS = 1_700_000_000_000;
/** By the ledger's clock, which no test of these waits for. */
const RETRY_MS = 500_000;
const RETRY_MAX_MS = 1_500_000;
/** No loop comes by itself. */
const NEVER_MS = 2 ** 30;

const running: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

const nobody = freshAddress();
const role = freshHash();
/** What the sale says, and how that is told. */
const neverRuns = encodeErrorResult({ abi: pointsSaleAbi, errorName: 'InvalidRecipient', args: [nobody] });
const neverRunsToo = encodeErrorResult({ abi: pointsSaleAbi, errorName: 'ZeroAmount' });
const noRole = encodeErrorResult({
  abi: pointsSaleAbi,
  errorName: 'AccessControlUnauthorizedAccount',
  args: [nobody, role],
});
const noRoleReason = `AccessControlUnauthorizedAccount(${getAddress(nobody)}, ${role})`;

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  const pointsSale = freshAddress();

  /** A mint that an operator asks for. */
  async function ask(kind: 'wallet' | 'escrow' = 'wallet') {
    const mint = { key: freshHash(), kind, recipient: freshAddress(), amount: 7 };
    await recordMint(db(), { ...mint, reason: 'a test', createdAt: NOW_MS });
    return mint;
  }
  /** The mint of a paid session. */
  async function pay(kind: 'wallet' | 'escrow') {
    const [key, brandId, wallet] = [freshHash(), freshAddress(), freshAddress()];
    const sessionId = freshKey('cs_test');
    const paid = { usdCents: 500, rwtAmount: 5_000, paymentIntentId: freshKey('pi'), createdAt: NOW_MS - 1 };
    await kit().database.atomically((tx) => planMint(tx, { sessionId, key, kind, brandId, wallet, ...paid }));
    return { sessionId, key, kind, recipient: kind === 'wallet' ? wallet : brandId, amount: 5_000 };
  }
  const failureOf = async (key: Hex) => (await readOperatorMints(db(), [key]))[0]?.failure;

  async function open({ storeMax = 10 } = {}) {
    await db().update(operatorMints).set({ failure: 'of another test' });
    const world = {
      nowMs: NOW_MS,
      nowAsked: 0,
      offered: [] as Hex[],
      nonceAsked: 0,
      sent: 0,
      givenUp: 0,
      /** What was tried out, each time. */
      tried: [] as { from: Hex; to: Hex; key: Hex; value: bigint; gas: bigint }[][],
      /** What the sale answers to a key; anything else is minted. */
      refuses: new Map<Hex, Hex>(),
      fault: undefined as Error | undefined,
    };
    const failures: string[] = [];
    const note = (_: LogFields, message: string) => void failures.push(message);
    const clock = {
      now() {
        world.nowAsked += 1;
        return world.nowMs;
      },
      sleep: async () => {},
    };
    const chain = {
      block: async () => ({
        number: 1,
        hash: '0x1',
        parentHash: '0x0',
        timestampSeconds: 1,
        baseFeeWei: GWEI,
      }),
      nonce: async () => {
        world.nonceAsked += 1;
        return 0;
      },
      balanceWei: async () => 10n ** 24n,
      async sendRaw(raw: Hex) {
        world.offered.push(raw);
        return { kind: 'accepted' };
      },
    } as unknown as ChainClient;
    const signer = localKeySigner(generatePrivateKey());
    const alarms = createAlarms({ now: clock.now, log: silentLog });
    const mints = createMints({
      database: kit().database,
      chain,
      clock,
      realClock: clock,
      crash: neverCrash,
      owner: 'test',
      random: secureRandom(clock),
      alarms,
      settlements: {},
      bookLate: nothingLate,
      signer,
      pointsSale,
      async rpc(method, [asked]) {
        expect(method).toBe('eth_simulateV1');
        if (world.fault) throw world.fault;
        const { blockStateCalls } = asked as {
          blockStateCalls: [{ calls: Record<'from' | 'to' | 'data' | 'value' | 'gas', Hex>[] }];
        };
        const calls = blockStateCalls[0].calls.map(({ from, to, data, value, gas }) => {
          const { args } = decodeFunctionData({ abi: pointsSaleAbi, data });
          return { from, to, key: args?.[0] as Hex, value: hexToBigInt(value), gas: hexToBigInt(gas) };
        });
        world.tried.push(calls);
        const answers = calls.map(({ key }) => {
          const data = world.refuses.get(key);
          return { status: data ? '0x0' : '0x1', gasUsed: '0x1', returnData: data ?? '0x' };
        });
        return [{ calls: answers }];
      },
      onSent() {
        world.sent += 1;
      },
      onGivenUp() {
        world.givenUp += 1;
      },
      log: { ...silentLog, warn: note, error: note } as typeof silentLog,
      lane: {
        chainId: 7,
        inFlightMax: 20,
        leaseMs: 600_000,
        resendAfterMs: NEVER_MS,
        bumpAfterMs: NEVER_MS,
        untakenAfterMs: NEVER_MS,
        fees: { feeCapWei: 100n * GWEI, priorityFeeWei: GWEI },
      },
      settings: {
        storeMax,
        idlePollMs: NEVER_MS,
        refusedRetryMs: RETRY_MS,
        refusedRetryMaxMs: RETRY_MAX_MS,
      },
    });
    running.push(mints.stop);
    const alarmsNow = () => alarms.list().map(({ code, about, facts }) => ({ code, about, ...facts }));
    /** A turn from its beginning to its end, which asks the node for what the lane has, since it knows nothing more. */
    const turn = async () => {
      const before = world.nonceAsked;
      mints.reload();
      await expect.poll(() => world.nonceAsked).toBeGreaterThan(before);
    };
    /** Keys that were tried out, each time. */
    const triedKeys = () => world.tried.map((calls) => calls.map(({ key }) => key));
    return { world, failures, mints, signer, alarmsNow, turn, triedKeys };
  }

  test('each mint is tried out and goes in a transaction of its own, as it was planned', async () => {
    const { world, failures, mints, signer, triedKeys } = await open({ storeMax: 2 });
    const paid = [await pay('wallet'), await pay('escrow')].sort((a, b) => (a.key < b.key ? -1 : 1));
    const byHand = [await ask('wallet'), await ask('escrow')].sort((a, b) => (a.key < b.key ? -1 : 1));
    const all = [...paid, ...byHand];
    mints.start();
    await expect.poll(() => new Set(world.offered).size).toBe(4);
    const from = signer.address;
    expect(world.tried.flat()).toEqual(
      all.map(({ key, kind }) => ({ from, to: pointsSale, key, value: 0n, gas: mintGasLimit(kind) })),
    );
    expect(triedKeys()).toEqual([paid.map(({ key }) => key), byHand.map(({ key }) => key)]);
    const sent = world.offered.map((raw) => parseTransaction(raw));
    expect(sent).toMatchObject(
      all.map((mint) => ({ to: pointsSale, data: saleMintData(mint), gas: mintGasLimit(mint.kind) })),
    );
    // Told after the node's answer is stored.
    await expect.poll(() => world.sent).toBe(4);
    const rows = (await db().select().from(transactions)).filter(({ lane }) => lane === from);
    expect(rows.map(({ purpose }) => purpose)).toEqual(['mint', 'mint', 'mint', 'mint']);
    const another = () =>
      leaseLane(db(), {
        address: from,
        purpose: 'mint',
        owner: 'another',
        now: kit().database.now,
        forMs: 600_000,
      });
    expect(await another()).toBeUndefined();
    await mints.stop();
    expect(await another()).toBeDefined();
    expect(failures).toEqual([]);
  });

  test('a mint that can never run is given up with its reason, and the others go on', async () => {
    const { world, mints, alarmsNow } = await open();
    const [nowhere, nothing, good] = [await ask(), await ask(), await ask()];
    world.refuses.set(nowhere.key, neverRuns);
    world.refuses.set(nothing.key, neverRunsToo);
    mints.start();
    await expect.poll(() => new Set(world.offered).size).toBe(1);
    expect(parseTransaction(world.offered[0] as Hex).data).toBe(saleMintData(good));
    expect(await failureOf(nowhere.key)).toBe(`InvalidRecipient(${getAddress(nobody)})`);
    expect(await failureOf(nothing.key)).toBe('ZeroAmount()');
    expect(world.givenUp).toBe(2);
    const given = (key: Hex, reason: string) => ({ code: 'mint_given_up', about: key, reason });
    expect(alarmsNow()).toHaveLength(2);
    expect(alarmsNow()).toContainEqual(given(nowhere.key, `InvalidRecipient(${getAddress(nobody)})`));
    expect(alarmsNow()).toContainEqual(given(nothing.key, 'ZeroAmount()'));
  });

  /** The time of a mint has come. */
  const comeDue = ({ key }: { key: Hex }) =>
    db().update(operatorMints).set({ nextTryAt: 0 }).where(eq(operatorMints.key, key));
  /** How often a mint was refused, and how much longer it waits, in pauses of the first length. */
  async function pauseOf({ key }: { key: Hex }) {
    const [row] = await db()
      .select({ refusals: operatorMints.refusals, ms: sql<number>`next_try_at - ${kit().database.now}` })
      .from(operatorMints)
      .where(eq(operatorMints.key, key));
    return [row?.refusals, Math.ceil(Number(row?.ms) / RETRY_MS)];
  }

  test('what the sale refuses waits with an alarm, ever longer, and other mints are tried out without it', async () => {
    const { world, mints, signer, alarmsNow, turn, triedKeys } = await open();
    const refused = await ask();
    world.refuses.set(refused.key, noRole);
    mints.start();
    const alarm = {
      code: 'mint_refused',
      about: signer.address,
      mint: refused.key,
      reason: noRoleReason,
    };
    await expect.poll(alarmsNow).toEqual([alarm]);
    expect(await pauseOf(refused)).toEqual([1, 1]);
    await turn();
    expect(triedKeys()).toEqual([[refused.key]]);
    for (const pause of [
      [2, 2],
      [3, 3],
      [4, 3],
    ]) {
      await comeDue(refused);
      await turn();
      await expect.poll(() => pauseOf(refused)).toEqual(pause);
    }
    expect(triedKeys()).toHaveLength(4);
    expect(alarmsNow()).toEqual([alarm]);
    // Another one is tried out at once, and by itself.
    const other = await ask();
    world.refuses.set(other.key, noRole);
    mints.nudge();
    await expect.poll(() => triedKeys().slice(4)).toEqual([[other.key]]);
    await turn();
    expect([triedKeys().length, world.offered.length]).toEqual([5, 0]);
    // One is taken from now on: it goes, and the alarm names the other one.
    world.refuses.delete(refused.key);
    await comeDue(refused);
    mints.nudge();
    await expect.poll(() => new Set(world.offered).size).toBe(1);
    await turn();
    expect(alarmsNow()).toEqual([{ ...alarm, mint: other.key }]);
    world.refuses.clear();
    await comeDue(other);
    mints.nudge();
    await expect.poll(() => new Set(world.offered).size).toBe(2);
    await turn();
    expect(alarmsNow()).toEqual([]);
    expect(world.givenUp).toBe(0);
    // Nothing waits: nothing is tried out.
    expect(triedKeys()).toHaveLength(7);
  });

  test('a mint whose transaction did nothing waits again, one that was minted does not', async () => {
    const [again, done] = [await ask(), await ask()];
    const of = (outcome: 'done' | 'reverted' | 'noop') => ({ id: freshKey('transaction'), outcome });
    const carriers = [of('reverted'), of('done')] as const;
    for (const [place, { key }] of [again, done].entries())
      await bindMint(db(), { key, transactionId: carriers[place]?.id ?? '' });
    await kit().database.atomically((tx) =>
      settleMints(tx, { transactions: carriers as never, nowMs: NOW_MS }),
    );
    const waiting = (await waitingMints(db(), { now: kit().database.now, limit: 1_000 })).map(
      ({ key }) => key,
    );
    expect([waiting.includes(again.key), waiting.includes(done.key)]).toEqual([true, false]);
  });

  test('the alarm of a refused mint ends when it waits no more', async () => {
    const { world, mints, alarmsNow, turn, triedKeys } = await open();
    const { key } = await ask();
    world.refuses.set(key, noRole);
    mints.start();
    await expect.poll(alarmsNow).toHaveLength(1);
    await db().update(operatorMints).set({ failure: 'by hand' });
    await turn();
    expect([alarmsNow(), triedKeys().length]).toEqual([[], 1]);
    // Nothing waits, and nobody wakes the lane.
    await expectRest(() => world.nowAsked);
  });

  test('what is in flight is looked after while no node tries out what waits', async () => {
    const { world, failures, mints, turn } = await open();
    await ask();
    mints.start();
    await expect.poll(() => new Set(world.offered).size).toBe(1);
    world.fault = new RpcUnreachableError('eth_simulateV1', 'no answer');
    await ask();
    await turn();
    await expect.poll(() => failures.length).toBe(1);
    expect(failures[0]).toContain('mints');
    world.fault = undefined;
    mints.nudge();
    await expect.poll(() => new Set(world.offered).size).toBe(2);
  });

  test.each([
    ['when a block was read here', NEVER_MS],
    ['now and then', 5],
  ])('who waits for a mint hears of it %s', async (_, pollMs) => {
    const { world, mints, signer } = await open();
    const board = createMintWaiters({ database: kit().database, log: silentLog, pollMs });
    running.push(board.stop);
    const ofSession = (sessionId: string, timeoutMs = NEVER_MS) => board.waitFor({ sessionId, timeoutMs });
    const ofOperator = (key: Hex, timeoutMs = NEVER_MS) => board.waitForOperator({ key, timeoutMs });
    expect(await ofSession('nobody’s')).toBeUndefined();
    expect(await ofOperator(freshHash())).toBeUndefined();
    expect(board.isAwaited()).toBe(false);

    const paid = await pay('wallet');
    const waits = [ofSession(paid.sessionId), ofSession(paid.sessionId)];
    expect(board.isAwaited()).toBe(true);
    expect(await ofSession(paid.sessionId, 0)).toMatchObject({ hash: null, status: null });
    mints.start();
    await expect.poll(() => world.sent).toBe(1);
    board.look();
    const [carrier] = await unsettledTransactions(db(), signer.address);
    if (!carrier) throw new Error('one is in flight');
    await kit().database.atomically((tx) =>
      markIncluded(tx, {
        id: carrier.id,
        hash: carrier.hash,
        outcome: 'done',
        blockNumber: 1,
        blockHash: freshHash(),
        gasUsed: 1,
        gasPriceWei: '1',
      }),
    );
    board.look();
    board.look();
    const minted = { hash: carrier.hash, status: 'included', outcome: 'done', failure: null };
    for (const one of waits) expect(await one).toMatchObject({ ...minted, mint: { key: paid.key } });
    expect(board.isAwaited()).toBe(false);
    // It is over by now.
    expect(await ofSession(paid.sessionId)).toMatchObject(minted);

    const given = await ask();
    world.refuses.set(given.key, neverRunsToo);
    const hears = ofOperator(given.key);
    mints.nudge();
    await expect.poll(() => world.givenUp).toBe(1);
    board.look();
    expect(await hears).toMatchObject({ key: given.key, status: null, failure: 'ZeroAmount()' });
    expect(await ofOperator(given.key)).toMatchObject({ failure: 'ZeroAmount()' });
    expect(board.isAwaited()).toBe(false);
  });
});

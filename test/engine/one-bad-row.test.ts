/** One bad row in front of a hundred good ones, on every queue of every lane: what it costs the good ones, in turns of the lane. */
import {
  decodeAbiParameters,
  encodeErrorResult,
  type Hex,
  serializeTransaction,
  toFunctionSelector,
} from 'viem';
import { beforeEach, expect, test } from 'vitest';
import { createAlarms } from '../../src/chain/alarms.ts';
import { perkNFTAbi, pointsSaleAbi } from '../../src/chain/contracts/abis.ts';
import { decodePayoutBatch } from '../../src/chain/contracts/payout-batch.ts';
import type { LaneWork } from '../../src/chain/lane/types.ts';
import { type Rpc, RpcAnswerError } from '../../src/chain/rpc/rpc.ts';
import { mintWork } from '../../src/chain/work/mint-work.ts';
import { payoutWork, settlePayouts } from '../../src/chain/work/payout-work.ts';
import { redeemWork } from '../../src/chain/work/redeem-work.ts';
import { relayWork } from '../../src/chain/work/relay-work.ts';
import { storeRelays } from '../../src/ledger/relay/queued-relays.ts';
import { recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { perkTerms, redemptions } from '../../src/ledger/schema/engagement/perks.ts';
import { mints, operatorMints } from '../../src/ledger/schema/payments.ts';
import { relays } from '../../src/ledger/schema/relay.ts';
import { rewards } from '../../src/ledger/schema/rewards.ts';
import { storeTransaction, transactionsById } from '../../src/ledger/transactions/transactions.ts';
import { silentLog } from '../../src/lib/log.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
const GWEI = 10n ** 9n;
const FEES = { maxFeePerGas: GWEI, maxPriorityFeePerGas: 1n };
const GOOD = 100;
/** What a lane tries out and signs in one turn. */
const WINDOW = 16;
/** No pause of these ends within a test. */
const PAUSES = { refusedRetryMs: 600_000, refusedRetryMaxMs: 600_000 };
const noRole = encodeErrorResult({
  abi: perkNFTAbi,
  errorName: 'AccessControlUnauthorizedAccount',
  args: [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(64)}`],
});

/** What each call is asked with, by its selector: viem hashes every signature of an ABI anew for each call. */
const inputsOf = new Map(
  [...perkNFTAbi, ...pointsSaleAbi].flatMap((item) =>
    item.type === 'function' ? [[toFunctionSelector(item), item.inputs] as const] : [],
  ),
);
/** The first argument of a call: what the contract knows a row by. */
function keyIn(data: Hex): string {
  const [key] = decodeAbiParameters(inputsOf.get(data.slice(0, 10) as Hex) ?? [], `0x${data.slice(10)}`);
  return String(key);
}

interface Row {
  brand: Hex;
  at: number;
}

onEveryDatabase(({ kind, kit }) => {
  const db = () => kit().database.db;
  /** What the contracts refuse, by key; of terms by token. */
  let bad = new Set<string>();
  let tokens = 0;
  beforeEach(async () => {
    bad = new Set();
    for (const table of [redemptions, perkTerms, mints, operatorMints, rewards, relays])
      await db().delete(table);
  });

  const rpc: Rpc = async (_, [asked]) => {
    const { blockStateCalls } = asked as { blockStateCalls: { calls: { data: Hex }[] }[] };
    return blockStateCalls.map(({ calls }) => ({
      calls: calls.map(({ data }) => {
        const refused = bad.has(keyIn(data));
        return { status: refused ? '0x0' : '0x1', gasUsed: '0x1', returnData: refused ? noRole : '0x' };
      }),
    }));
  };
  const laneDeps = () => ({
    database: kit().database,
    rpc,
    account: freshAddress(),
    batchMax: WINDOW,
    ...PAUSES,
    alarms: createAlarms({ now: () => NOW_MS, log: silentLog }),
    onSent() {},
    onGivenUp() {},
  });
  const redeeming = () => redeemWork({ ...laneDeps(), perks: freshAddress(), contracts: [] });
  const minting = () => mintWork({ ...laneDeps(), pointsSale: freshAddress() });

  /** Writes rows of a queue, and gives what the contract knows each by. */
  const queues = {
    async redemption(rows: Row[]) {
      const values = rows.map(({ brand, at }) => ({
        id: freshKey('redemption'),
        key: freshHash(),
        brandId: brand,
        perkId: 'perk',
        tokenId: 1,
        userKey: 'user',
        wallet: freshAddress(),
        cost: 1,
        confirmationCode: freshKey('code'),
        createdAt: at,
        waitingSince: NOW_MS,
      }));
      await db()
        .insert(redemptions)
        .values(values as never);
      return values.map(({ key }) => key as string);
    },
    async perkTerms(rows: Row[]) {
      const values = rows.map(({ brand, at }) => ({
        tokenId: ++tokens,
        position: 1,
        perkId: 'perk',
        brandId: brand,
        kind: 'set',
        price: 1,
        active: true,
        stock: 1,
        createdAt: at,
        failedTries: 0,
      }));
      await db()
        .insert(perkTerms)
        .values(values as never);
      return values.map(({ tokenId }) => String(tokenId));
    },
    async mint(rows: Row[]) {
      const values = rows.map(({ brand, at }) => ({
        sessionId: freshKey('cs'),
        key: freshHash(),
        kind: 'escrow',
        brandId: brand,
        wallet: freshAddress(),
        usdCents: 1,
        rwtAmount: 10,
        createdAt: at,
        failedTries: 0,
      }));
      await db()
        .insert(mints)
        .values(values as never);
      return values.map(({ key }) => key as string);
    },
    async operatorMint(rows: Row[]) {
      const values = rows.map(({ brand, at }) => ({
        key: freshHash(),
        kind: 'escrow',
        recipient: brand,
        amount: 1,
        reason: 'test',
        createdAt: at,
      }));
      await db()
        .insert(operatorMints)
        .values(values as never);
      return values.map(({ key }) => key as string);
    },
  };
  const tables = { redemption: redemptions, perkTerms, mint: mints, operatorMint: operatorMints };
  const of = (brand: Hex, count: number, at = NOW_MS): Row[] =>
    Array.from({ length: count }, (_, place) => ({ brand, at: at + place }));

  /** Turns until all of these are bound to transactions; `before` comes before each. */
  async function turnsFor(queue: keyof typeof queues, wanted: string[], before = async () => {}) {
    const work = queue === 'mint' || queue === 'operatorMint' ? minting() : redeeming();
    const open = new Set(wanted);
    for (let turn = 1; turn <= 200; turn++) {
      await before();
      await work.tryOut();
      const payloads = await bind(work, WINDOW);
      for (const { data } of payloads) open.delete(keyIn(data));
      if (open.size === 0) return turn;
    }
    return Number.POSITIVE_INFINITY;
  }
  const bind = (work: LaneWork, count: number) =>
    kit().database.atomically((tx) =>
      work.bindNext(
        tx,
        Array.from({ length: count }, () => freshKey('transaction')),
        FEES,
      ),
    );

  test.each(Object.keys(queues) as (keyof typeof queues)[])('%s', async (queue) => {
    const write = queues[queue];
    const brand = freshAddress();
    const alone = await turnsFor(queue, await write(of(brand, GOOD)));
    const figures: Record<string, number> = { alone };

    for (const key of await write(of(brand, 1, NOW_MS - 1))) bad.add(key);
    figures['behind one'] = await turnsFor(queue, await write(of(brand, GOOD)));

    // Nobody has tried these out before.
    for (const key of await write(of(brand, 4 * WINDOW, NOW_MS - 1_000))) bad.add(key);
    figures[`behind ${4 * WINDOW}`] = await turnsFor(queue, await write(of(brand, GOOD)));
    figures['once those were refused'] = await turnsFor(queue, await write(of(brand, GOOD)));

    // Their pauses are over at every turn, whatever was refused a moment before.
    const comeDue = async () => void (await db().update(tables[queue]).set({ nextTryAt: 0 }));
    figures['while those are due'] = await turnsFor(queue, await write(of(brand, GOOD)), comeDue);

    await write(of(freshAddress(), 1_000, NOW_MS - 10_000));
    figures["another brand's one behind a thousand"] = await turnsFor(
      queue,
      await write(of(freshAddress(), 1)),
    );

    console.info(`${queue} on ${kind}, turns for ${GOOD}: ${JSON.stringify(figures)}`);
    const { "another brand's one behind a thousand": one, ...ofHundred } = figures;
    for (const [what, turns] of Object.entries(ofHundred)) expect(turns, what).toBeLessThanOrEqual(2 * alone);
    expect(one).toBe(1);
  });

  test('perk terms of a thousand perks leave redemptions half of the window', async () => {
    await queues.perkTerms(of(freshAddress(), 1_000));
    const keys = await queues.redemption(of(freshAddress(), GOOD));
    expect(await turnsFor('redemption', keys)).toBeLessThanOrEqual(2 * Math.ceil(GOOD / WINDOW));
  });

  test('relay: a call that will revert takes one nonce of its payer’s lane, and none of another’s', async () => {
    const queue = async (lane: Hex, count: number) => {
      const calls = Array.from({ length: count }, () => ({
        id: freshKey('relay'),
        lane,
        payer: lane,
        userAddress: freshAddress(),
        recipient: freshAddress(),
        data: '0x' as const,
        valueWei: '0',
        gas: 100_000,
        permit: null,
        reservedGwei: 1,
        budgetDay: 1,
        createdAt: NOW_MS,
      }));
      await kit().database.atomically((tx) => storeRelays(tx, calls));
    };
    const turns = async (lane: Hex) => {
      const work = relayWork({ lane, fundsOthers: false, onSent() {} });
      let count = 0;
      while (await work.isWaiting(db())) {
        await bind(work, WINDOW);
        count += 1;
      }
      return count;
    };
    const [alone, behindOne, other] = [freshAddress(), freshAddress(), freshAddress()];
    await queue(alone, GOOD);
    await queue(behindOne, GOOD + 1);
    await queue(freshAddress(), 1_000);
    await queue(other, 1);
    const figures = [await turns(alone), await turns(behindOne), await turns(other)];
    console.info(`relay on ${kind}, turns for ${GOOD}, behind one, one of another payer: ${figures}`);
    expect(figures[1]).toBeLessThanOrEqual(2 * (figures[0] ?? 0));
    expect(figures[2]).toBe(1);
  });

  /** `node`: what is asked to try payouts out. */
  async function payoutsBehindPoison(node: (isRefused: (data: Hex) => boolean) => Rpc) {
    const brandId = freshAddress();
    const grant = async (first: number, count: number) =>
      kit().database.atomically((tx) =>
        recordRewards(
          tx,
          Array.from({ length: count }, (_, place) => ({
            sequence: first + place,
            id: freshKey('reward'),
            brandId,
            eventType: 'survey',
            userKey: freshKey('user'),
            wallet: freshAddress(),
            walletCreated: true,
            amount: 3,
            metadata: {},
            createdAt: NOW_MS,
          })),
        ),
      );
    const poison = 1_000_000;
    const sequencesOf = (data: Hex) => decodePayoutBatch(data).map(({ sequence }) => Number(sequence));
    await grant(poison, GOOD + 1);
    const work = payoutWork({
      settings: { escrow: freshAddress(), batchMax: 400, offerMaxWei: 10n ** 18n },
      account: freshAddress(),
      rpc: node((data) => sequencesOf(data).includes(poison)),
      progress: { carried() {}, sent() {} },
    });
    let sent = 0;
    /** Sends all that waits, as many transactions as it takes, and settles those that did nothing. */
    const round = async () => {
      const reverted: string[] = [];
      const paid: number[] = [];
      for (;;) {
        const id = freshKey('transaction');
        const [payload] = await kit().database.atomically(async (tx) => {
          const payloads = await work.bindNext(tx, [id], FEES);
          for (const { to, data } of payloads)
            await storeTransaction(tx, {
              id,
              lane: freshAddress(),
              nonce: 0,
              purpose: 'payout',
              epoch: 1,
              createdAt: NOW_MS,
              hash: freshHash(),
              maxFeeWei: 1n,
              priorityFeeWei: 1n,
              raw: serializeTransaction({ type: 'eip1559', chainId: 7, to, data }),
            });
          return payloads;
        });
        if (!payload) {
          if (await work.tryOut()) continue;
          break;
        }
        sent += 1;
        const sequences = sequencesOf(payload.data);
        if (sequences.includes(poison)) reverted.push(id);
        else paid.push(...sequences);
      }
      await kit().database.atomically(async (tx) => {
        const of = (await transactionsById(tx, reverted)).map((one) => ({
          ...one,
          outcome: 'reverted' as const,
        }));
        await settlePayouts(tx, { transactions: of, nowMs: NOW_MS });
      });
      return paid;
    };
    const paid: number[][] = [];
    paid.push(await round());
    // New ones do not ride with what has failed before.
    await grant(poison + 10_000, 400);
    paid.push(await round(), await round());
    const all = paid.flat();
    expect(new Set(all).size).toBe(GOOD + 400);
    expect(all).toHaveLength(GOOD + 400);
    const rows = await db().select().from(rewards);
    expect(rows.filter(({ failure }) => failure !== null).map(({ sequence }) => sequence)).toEqual([poison]);
    return { sent, paidIn: paid.map((sequences) => sequences.length) };
  }

  test('payout: one that makes its whole transaction do nothing is found by a trial, and all others are paid at once when that is final', async () => {
    let requests = 0;
    const tries: (isRefused: (data: Hex) => boolean) => Rpc =
      (isRefused) =>
      async (_, [asked]) => {
        requests += 1;
        const [{ calls }] = (asked as { blockStateCalls: [{ calls: { data: Hex }[] }] }).blockStateCalls;
        const status = ({ data }: { data: Hex }) => (isRefused(data) ? '0x0' : '0x1');
        return [{ calls: calls.map((call) => ({ status: status(call), gasUsed: '0x1', returnData: '0x' })) }];
      };
    const { sent, paidIn } = await payoutsBehindPoison(tries);
    console.info(`payout on ${kind}: paid in each round ${paidIn}, ${sent} transactions, ${requests} trials`);
    expect(paidIn).toEqual([0, GOOD + 400, 0]);
    // One transaction for all, one for the new ones, one for the good ones, and two for the bad one alone.
    expect(sent).toBe(5);
    // All of them, twenty parts, the six of the part that fails, and those that run together.
    expect(requests).toBe(4);
  });

  test.each<[string, () => Rpc]>([
    [
      'no node tries payouts out',
      () => async (method) => {
        throw new RpcAnswerError(method, { code: -32601, message: 'the method does not exist' });
      },
    ],
    [
      'a trial says of all that they would run',
      () =>
        async (_, [asked]) => {
          const [{ calls }] = (asked as { blockStateCalls: [{ calls: unknown[] }] }).blockStateCalls;
          return [{ calls: calls.map(() => ({ status: '0x1', gasUsed: '0x1', returnData: '0x' })) }];
        },
    ],
    [
      'a trial says of all that they would fail',
      () =>
        async (_, [asked]) => {
          const [{ calls }] = (asked as { blockStateCalls: [{ calls: unknown[] }] }).blockStateCalls;
          return [{ calls: calls.map(() => ({ status: '0x0', gasUsed: '0x1', returnData: '0x' })) }];
        },
    ],
  ])(
    'payout: where %s, the bad one is given up alone all the same, and all others are paid',
    async (_, node) => {
      const { sent, paidIn } = await payoutsBehindPoison(node);
      console.info(
        `payout on ${kind}, without a trial that helps: paid in each round ${paidIn}, ${sent} transactions`,
      );
      expect(paidIn[1]).toBeGreaterThanOrEqual(400);
      expect(paidIn[2]).toBe(GOOD + 400 - (paidIn[1] ?? 0));
    },
  );
});

/** What a block shows of mints that somebody else has sent, on every database: they wait no more, until the chain takes the block back. */
import { eq } from 'drizzle-orm';
import { encodeEventTopics, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { createAlarms } from '../../src/chain/alarms.ts';
import { pointsSaleAbi } from '../../src/chain/contracts/abis.ts';
import { findEarlierMints } from '../../src/chain/indexer/find-earlier-mints.ts';
import { createFollower } from '../../src/chain/indexer/indexer.ts';
import type { Block, ChainClient, Receipt } from '../../src/chain/rpc/client.ts';
import { RpcTooLargeError } from '../../src/chain/rpc/rpc.ts';
import { bindMint, giveUpMint, mintBacklog, waitingMints } from '../../src/ledger/payments/mint-queue.ts';
import {
  isMinted,
  planMint,
  readMint,
  readOperatorMints,
  recordMint,
} from '../../src/ledger/payments/mints.ts';
import { mints, operatorMints } from '../../src/ledger/schema/payments.ts';
import { followedBlocks } from '../../src/ledger/schema/transactions.ts';
import { storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import { silentLog } from '../../src/lib/log.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
type Shown = 'Minted' | 'MintedIntoEscrow' | 'AlreadyMinted';

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;

  /** A chain of blocks that hold these events of the sale, each in a transaction of its own; a database is shared, so it is emptied first. */
  async function chainOf(isLarge = false) {
    for (const table of [mints, operatorMints, followedBlocks]) await db().delete(table);
    const pointsSale = freshAddress();
    let blocks: { block: Block; receipts: Receipt[] }[] = [];
    const append = (...events: { event: Shown; key: Hex; hash?: Hex; address?: Hex }[]) => {
      const number = blocks.length + 1;
      const parentHash = blocks.at(-1)?.block.hash ?? (`0x${'0'.repeat(64)}` as const);
      const receipts = events.map(({ event, key, hash = freshHash(), address = pointsSale }, logIndex) => {
        const args = { key, to: freshAddress(), brand: freshAddress() };
        const topics = encodeEventTopics({ abi: pointsSaleAbi, eventName: event, args } as never) as Hex[];
        const data: Hex = event === 'AlreadyMinted' ? '0x' : `0x${'1'.padStart(64, '0')}`;
        const log = { address, topics, data };
        return {
          transactionHash: hash,
          succeeded: true,
          gasUsed: 1n,
          effectiveGasPriceWei: 1n,
          logs: [{ ...log, logIndex, transactionHash: hash }],
        } as unknown as Receipt;
      });
      const transactions = receipts.map(({ transactionHash }) => transactionHash);
      const block = { number, hash: freshHash(), parentHash, timestampSeconds: number, baseFeeWei: 1n };
      blocks.push({ block: { ...block, transactions }, receipts });
      return receipts.map(({ transactionHash }) => transactionHash);
    };
    const chain: Partial<ChainClient> = {
      block: async (which) =>
        which === 'latest' ? blocks.at(-1)?.block : blocks.find(({ block }) => block.number === which)?.block,
      async blockReceipts(number) {
        if (isLarge) throw new RpcTooLargeError('eth_getBlockReceipts', 'the node');
        return blocks.find(({ block }) => block.number === number)?.receipts;
      },
      receipt: async (hash) => {
        for (const { block, receipts } of blocks) {
          const found = receipts.find(({ transactionHash }) => transactionHash === hash);
          if (found) return { ...found, blockHash: block.hash };
        }
        return undefined;
      },
      logsIn: async (hash, address) =>
        blocks
          .filter(({ block }) => block.hash === hash)
          .flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))
          .filter((log) => log.address === address),
    };
    const follower = createFollower({
      database: kit().database,
      chain: chain as ChainClient,
      log: silentLog,
      crash: neverCrash,
      clock: { now: () => NOW_MS, sleep: async () => {} },
      alarms: createAlarms({ now: () => NOW_MS, log: silentLog }),
      settlements: {},
      settings: {
        escrow: freshAddress(),
        token: freshAddress(),
        pointsSale,
        firstBlock: 1,
        confirmations: 1,
        finalityBlocks: 5,
      },
      onIncluded: () => {},
      onReorganized: () => {},
    });
    return {
      pointsSale,
      append,
      read: () => follower.catchUp(),
      takeBack(from: number) {
        blocks = blocks.slice(0, from - 1);
      },
    };
  }
  const waiting = async () => {
    const keys = (await waitingMints(db(), { now: kit().database.now, limit: 100 })).map(({ key }) => key);
    expect((await mintBacklog(db())).waiting).toBe(keys.length);
    return keys;
  };
  async function byHand(kind: 'wallet' | 'escrow' = 'wallet') {
    const mint = { key: freshHash(), kind, recipient: freshAddress(), amount: 7, reason: 'a test' };
    await recordMint(db(), { ...mint, createdAt: NOW_MS });
    return mint.key;
  }
  async function paid() {
    const [key, sessionId] = [freshHash(), freshKey('cs_test')];
    const of = { usdCents: 500, rwtAmount: 5_000, paymentIntentId: null, createdAt: NOW_MS };
    const plan = { sessionId, key, kind: 'wallet' as const, brandId: freshAddress(), wallet: freshAddress() };
    await kit().database.atomically((tx) => planMint(tx, { ...plan, ...of }));
    return { key, sessionId };
  }

  test.each([false, true])(
    'mints of operators and of payments settle by a block that is large: %s',
    async (isLarge) => {
      const chain = await chainOf(isLarge);
      const [wallet, escrow, payment, other] = [
        await byHand(),
        await byHand('escrow'),
        await paid(),
        await byHand(),
      ];
      chain.append();
      const [ofWallet, ofEscrow] = chain.append(
        { event: 'Minted', key: wallet },
        { event: 'MintedIntoEscrow', key: escrow },
        { event: 'AlreadyMinted', key: payment.key },
        // Of a contract that is not the sale, and under a key that is nobody's.
        { event: 'Minted', key: other, address: freshAddress() },
        { event: 'Minted', key: freshHash() },
      );
      await chain.read();
      expect(await waiting()).toEqual([other]);
      const read = await readOperatorMints(db(), [wallet, escrow, other]);
      const hashOf = new Map(read.map((one) => [one.key, isMinted(one) ? one.hash : undefined]));
      expect([wallet, escrow, other].map((key) => hashOf.get(key))).toEqual([ofWallet, ofEscrow, undefined]);
      expect(await readMint(db(), payment.sessionId)).toMatchObject({ status: 'included', blockNumber: 2 });
      expect(await bindMint(db(), { key: wallet, transactionId: freshKey('transaction') })).toBe(false);

      chain.takeBack(2);
      chain.append();
      chain.append({ event: 'Minted', key: escrow });
      await chain.read();
      expect(new Set(await waiting())).toEqual(new Set([wallet, payment.key, other]));
    },
  );

  test('one that was given up is minted after all; a transaction of our own is settled by its outcome', async () => {
    const chain = await chainOf();
    const [givenUp, ours] = [await byHand(), await byHand()];
    await giveUpMint(db(), { key: givenUp, failure: 'reverted' });
    const [id, hash] = [freshKey('transaction'), freshHash()];
    await kit().database.atomically(async (tx) => {
      await storeTransaction(tx, {
        id,
        lane: freshAddress(),
        nonce: 0,
        purpose: 'mint',
        epoch: 1,
        hash,
        raw: '0x02c0',
        maxFeeWei: 1n,
        priorityFeeWei: 1n,
        createdAt: NOW_MS,
      });
      await bindMint(tx, { key: ours, transactionId: id });
    });
    chain.append({ event: 'Minted', key: givenUp }, { event: 'Minted', key: ours, hash });
    await chain.read();
    const [one, two] = await Promise.all(
      [givenUp, ours].map(async (key) => (await readOperatorMints(db(), [key]))[0]),
    );
    expect([one && isMinted(one), one?.failure]).toEqual([true, null]);
    expect([two && isMinted(two), two?.hash]).toEqual([true, hash]);
    const [row] = await db().select().from(operatorMints).where(eq(operatorMints.key, ours));
    expect([row?.transactionId, row?.shownBlock]).toEqual([id, null]);
  });

  test('at a start, the sale is asked about mints that wait, and about nothing else', async () => {
    const chain = await chainOf();
    const asked: number[] = [];
    const { pointsSale } = chain;
    const used = new Set<string>();
    const look = () =>
      findEarlierMints({
        database: kit().database,
        pointsSale,
        log: silentLog,
        async rpc(_, [call, block]) {
          asked.push(Number(block));
          const { data } = call as { data: string };
          const isUsed = [...used].some((key) => data.endsWith(key.slice(2)));
          return `0x${(isUsed ? '1' : '0').padStart(64, '0')}`;
        },
      });
    chain.append();
    await chain.read();
    await look();
    expect(asked).toEqual([]);
    const [early, late, payment] = [await byHand(), await byHand(), await paid()];
    used.add(early).add(payment.key);
    await look();
    expect(asked).toEqual([1, 1, 1]);
    expect(await waiting()).toEqual([late]);
    expect((await readOperatorMints(db(), [early]))[0]).toMatchObject({ hash: null, status: 'included' });
  });
});

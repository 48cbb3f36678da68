/** The engine as a whole against a real ledger and a small chain: who hears of which block, what waits for what, and how it starts and ends. */

import { type Hex, keccak256, recoverTransactionAddress } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { afterEach, expect, test } from 'vitest';
import { businessEscrowArtifact } from '../../src/chain/contracts/artifacts.ts';
import { createChainEngine, createWatchingEngine } from '../../src/chain/engine.ts';
import { localKeySigner } from '../../src/chain/lane/local-key.ts';
import type { Block, ChainClient, Receipt } from '../../src/chain/rpc/client.ts';
import { recordMint } from '../../src/ledger/payments/mints.ts';
import { bindRelay, storeRelays } from '../../src/ledger/relay/queued-relays.ts';
import { recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { relays } from '../../src/ledger/schema/relay.ts';
import { recentBlocks } from '../../src/ledger/transactions/followed-blocks.ts';
import { storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { silentLog } from '../../src/lib/log.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';
import { until } from '../kits/service/clock.ts';

const GWEI = 10n ** 9n;
const NOW_MS = 1_700_000_000_000;
/** No loop comes by itself. */
const NEVER_MS = 2 ** 30;
let sequences = 900_000;

const running: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  const blocks: Block[] = [];
  const offered: Hex[] = [];
  /** Senders of what blocks hold. */
  const mined: string[] = [];

  function mine(hashes: Hex[] = []): void {
    const at = blocks.length + 1;
    const parentHash = blocks.at(-1)?.hash ?? freshHash();
    const of = { timestampSeconds: at, baseFeeWei: GWEI, transactions: hashes };
    blocks.push({ number: at, hash: freshHash(), parentHash, ...of });
  }
  const chain = {
    block: async (which: 'latest' | number) => (which === 'latest' ? blocks.at(-1) : blocks[which - 1]),
    blockReceipts: async (number: number) =>
      blocks[number - 1]?.transactions?.map((transactionHash): Receipt => {
        const cost = { gasUsed: 1n, effectiveGasPriceWei: 1n };
        return { transactionHash, succeeded: true, logs: [], ...cost };
      }),
    nonce: async (address: Hex) => mined.filter((one) => one === address.toLowerCase()).length,
    balanceWei: async () => 10n ** 24n,
    async sendRaw(raw: Hex) {
      offered.push(raw);
      return { kind: 'accepted' };
    },
  } as unknown as ChainClient;
  /** What was offered and no block holds. */
  const inPool = () =>
    [...new Set(offered)].filter((raw) => !blocks.some((one) => one.transactions?.includes(keccak256(raw))));
  /** A block with all of that: what is told to be sent may reach the pool a moment later. */
  async function mineOffered(): Promise<void> {
    await until('something is offered', () => inPool().length > 0);
    const raws = inPool();
    for (const serializedTransaction of raws as `0x02${string}`[])
      mined.push((await recoverTransactionAddress({ serializedTransaction })).toLowerCase());
    mine(raws.map((raw) => keccak256(raw)));
  }

  const settings = {
    payout: { batchMax: 10, offerMaxWei: 10n ** 18n, idlePollMs: NEVER_MS },
    lane: {
      inFlightMax: 5,
      leaseMs: 600_000,
      lookEveryMs: 0,
      resendAfterMs: NEVER_MS,
      bumpAfterMs: NEVER_MS,
      untakenAfterMs: NEVER_MS,
    },
    relay: {} as Parameters<typeof createChainEngine>[0]['settings']['relay'],
    redeem: {
      storeMax: 5,
      idlePollMs: NEVER_MS,
      refusedRetryMs: NEVER_MS,
      refusedRetryMaxMs: NEVER_MS,
      giveUpAfterMs: NEVER_MS,
      giveUpLookMs: NEVER_MS,
    },
    mint: { storeMax: 5, idlePollMs: NEVER_MS, refusedRetryMs: NEVER_MS, refusedRetryMaxMs: NEVER_MS },
    fees: { feeCapWei: 100n * GWEI, priorityFeeWei: GWEI },
    follow: { confirmations: 1, finalityBlocks: 9, idlePollMs: NEVER_MS, busyPollMs: 5 },
    progressPollMs: NEVER_MS,
  };
  const clock = { now: () => NOW_MS, sleep: async () => {} };
  const payout = localKeySigner(generatePrivateKey());

  function open(more: { mints?: boolean; beforeSending?: () => Promise<void> } = {}) {
    const { mints = true, beforeSending } = more;
    if (blocks.length === 0) mine();
    const mint = mints ? localKeySigner(generatePrivateKey()) : undefined;
    const contracts = { token: freshAddress(), escrow: freshAddress() };
    const engine = createChainEngine({
      database: kit().database,
      chain,
      clock,
      realClock: clock,
      crash: neverCrash,
      log: silentLog,
      signers: { payout, mint },
      random: secureRandom(clock),
      settings,
      beforeSending,
      async rpc(method, [asked]) {
        if (method === 'eth_getCode') return businessEscrowArtifact.deployedBytecode;
        // No mint was made by somebody else.
        if (method === 'eth_call') return `0x${'0'.repeat(64)}`;
        const { blockStateCalls } = asked as { blockStateCalls: [{ calls: unknown[] }] };
        const answer = { status: '0x1', gasUsed: '0x1', returnData: '0x' };
        return [{ calls: blockStateCalls[0].calls.map(() => answer) }];
      },
      facts: {
        chainId: 7,
        genesisHash: freshHash(),
        deploymentBlock: 1,
        contracts: { ...contracts, perks: freshAddress(), pointsSale: freshAddress() },
      },
    });
    running.push(engine.stop);
    return engine;
  }
  async function grant(): Promise<string> {
    const id = freshKey('reward');
    await kit().database.atomically((tx) =>
      recordRewards(tx, [
        {
          sequence: sequences++,
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
    return id;
  }
  async function askMint(): Promise<Hex> {
    const key = freshHash();
    const mint = { key, kind: 'wallet', recipient: freshAddress(), amount: 7 } as const;
    await recordMint(db(), { ...mint, reason: 'a test', createdAt: NOW_MS });
    return key;
  }
  const isRead = async () => (await recentBlocks(db(), 1))[0]?.number === blocks.length;

  test('a reward that is nudged is sent, and its caller hears of that and of its block', async () => {
    const engine = open();
    await engine.start();
    expect(await isRead()).toBe(true);
    const rewardId = await grant();
    const sent = engine.progress.waitFor({ rewardId, until: 'sent', timeoutMs: NEVER_MS });
    engine.payouts.nudge();
    expect(await sent).toMatchObject({ status: 'sent' });
    const included = engine.progress.waitFor({
      rewardId: await grant(),
      until: 'included',
      timeoutMs: NEVER_MS,
    });
    engine.payouts.nudge();
    await until('both are offered', () => inPool().length === 2);
    // Nobody but the caller waits: for that alone the chain is looked at.
    await mineOffered();
    expect(await included).toMatchObject({ status: 'included', outcome: 'done' });
  });

  test('a mint that is nudged is sent, and its caller hears of its block', async () => {
    const engine = open();
    await engine.start();
    const key = await askMint();
    const minted = engine.mints.waitForOperator({ key, timeoutMs: NEVER_MS });
    engine.mints.nudge();
    await until('it is offered', () => inPool().length > 0);
    await mineOffered();
    expect(await minted).toMatchObject({ status: 'included', outcome: 'done' });
  });

  test('a process without the key of mints leaves them alone, also when it is nudged', async () => {
    const engine = open({ mints: false });
    await engine.start();
    const key = await askMint();
    engine.mints.nudge();
    engine.relays.nudge(freshAddress());
    expect(await engine.mints.waitForOperator({ key, timeoutMs: 20 })).toMatchObject({ status: null });
    expect(inPool()).toEqual([]);
  });

  test('the caller of a relayed call hears of the block that holds it', async () => {
    const engine = open();
    await engine.start();
    const [id, lane, carrier] = [freshKey('call'), freshAddress(), freshHash()];
    const transactionId = freshKey('transaction');
    await kit().database.atomically(async (tx) => {
      await storeRelays(tx, [
        {
          id,
          lane,
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
      ]);
      await storeTransaction(tx, {
        id: transactionId,
        lane,
        nonce: 0,
        purpose: 'relay',
        epoch: 1,
        hash: carrier,
        raw: '0x02c0',
        maxFeeWei: 1n,
        priorityFeeWei: 1n,
        createdAt: NOW_MS,
      });
      const position = (await tx.select().from(relays)).find((row) => row.id === id)?.position ?? -1;
      await bindRelay(tx, { position, part: 'call', transactionId });
    });
    const waits = engine.relays.waitFor({ id, timeoutMs: NEVER_MS });
    mine([carrier]);
    // What was waited for while nothing else happened is looked for at the next occasion.
    const rewardId = await grant();
    const sent = engine.progress.waitFor({ rewardId, until: 'sent', timeoutMs: NEVER_MS });
    engine.payouts.nudge();
    expect(await sent).toMatchObject({ status: 'sent' });
    expect(await waits).toMatchObject({ id, status: 'included', hash: carrier });
    await mineOffered();
  });

  test('nothing is sent before the ledger has caught up and its owner agrees; a no is the answer of start', async () => {
    await grant();
    mine();
    const seen: unknown[] = [];
    const asks = async () => {
      seen.push([await isRead(), inPool().length]);
    };
    await open({ beforeSending: asks }).start();
    await until('it is offered', () => inPool().length > 0);
    expect(seen).toEqual([[true, 0]]);
    await mineOffered();
    const no = open({ beforeSending: () => Promise.reject(new Error('not yours')) });
    await expect(no.start()).rejects.toThrow('not yours');
    expect(inPool()).toEqual([]);
  });

  test('an engine that has stopped reads no more', async () => {
    const engine = open();
    await engine.start();
    const rewardId = await grant();
    const sent = engine.progress.waitFor({ rewardId, until: 'sent', timeoutMs: NEVER_MS });
    engine.payouts.nudge();
    await sent;
    await engine.stop();
    await mineOffered();
    expect(await isRead()).toBe(false);
  });

  test('a process that only watches hears of rewards from the ledger, sends nothing and reads no block', async () => {
    const log = silentLog;
    const polling = { ...settings, progressPollMs: 5 };
    const engine = createWatchingEngine({
      database: kit().database,
      log,
      realClock: clock,
      settings: polling,
    });
    await engine.start();
    const rewardId = await grant();
    engine.payouts.nudge();
    engine.mints.nudge();
    engine.relays.nudge(freshAddress());
    const sent = engine.progress.waitFor({ rewardId, until: 'sent', timeoutMs: NEVER_MS });
    expect(inPool()).toEqual([]);
    expect(engine.alarms.list()).toEqual([]);
    await open().start();
    expect(await sent).toMatchObject({ rewardId, status: 'sent' });
    await engine.stop();
    expect(await engine.progress.waitFor({ rewardId: await grant(), until: 'sent', timeoutMs: 30 })).toBe(
      undefined,
    );
  });
});

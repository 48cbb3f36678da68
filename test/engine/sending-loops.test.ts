/** The loops that keep lanes going, against a real ledger and a chain that takes everything: who wakes them, and what they leave behind. */
import { eq } from 'drizzle-orm';
import { encodeAbiParameters, type Hex, parseTransaction } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { afterEach, expect, test } from 'vitest';
import { createAlarms } from '../../src/chain/alarms.ts';
import { businessEscrowArtifact } from '../../src/chain/contracts/artifacts.ts';
import { sequencesInPayout } from '../../src/chain/contracts/payout-batch.ts';
import { keysDerivedFrom, localKeySigner } from '../../src/chain/lane/local-key.ts';
import type { ChainClient } from '../../src/chain/rpc/client.ts';
import { createPayouts } from '../../src/chain/work/run-payouts.ts';
import { createRelays } from '../../src/chain/work/run-relays.ts';
import { requestTopUp } from '../../src/ledger/relay/gas-wallets.ts';
import { storeRelays } from '../../src/ledger/relay/queued-relays.ts';
import { recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { gasWallets } from '../../src/ledger/schema/relay.ts';
import { rewards } from '../../src/ledger/schema/rewards.ts';
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
/** No loop comes by itself. */
const NEVER_MS = 2 ** 30;
const clock = { now: () => NOW_MS, sleep: async () => {} };

/** A node that has this version's escrow wherever it is looked for. */
const escrowNode = async () => businessEscrowArtifact.deployedBytecode;

const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;

  function open(inFlightMax = 3) {
    const world = { offered: [] as Hex[], nonceAsked: 0, sent: 0, fault: undefined as Error | undefined };
    const failures: string[] = [];
    const note = (_: LogFields, message: string) => void failures.push(message);
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
        if (world.fault) throw world.fault;
        world.offered.push(raw);
        return { kind: 'accepted' };
      },
    } as unknown as ChainClient;
    const deps = {
      database: kit().database,
      chain,
      clock,
      realClock: clock,
      crash: neverCrash,
      owner: 'test',
      random: secureRandom(clock),
      alarms: createAlarms({ now: clock.now, log: silentLog }),
      log: { ...silentLog, warn: note, error: note } as typeof silentLog,
      settlements: {},
      bookLate: nothingLate,
      onSent() {
        world.sent += 1;
      },
      lane: {
        chainId: 7,
        inFlightMax,
        leaseMs: 600_000,
        resendAfterMs: NEVER_MS,
        bumpAfterMs: NEVER_MS,
        untakenAfterMs: NEVER_MS,
        fees: { feeCapWei: 100n * GWEI, priorityFeeWei: GWEI },
      },
    };
    /** Different bytes: a lane that has forgotten what a node took offers it once more. */
    const offers = (count: number) => expect.poll(() => new Set(world.offered).size).toBe(count);
    /** A turn that asks anew for what the lane has, since it knows nothing more. */
    const looks = async (wake: () => void) => {
      const before = world.nonceAsked;
      wake();
      await expect.poll(() => world.nonceAsked).toBeGreaterThan(before);
    };
    /** Another process, without waiting for the end of the lease. */
    const another = (address: Hex, purpose: 'payout' | 'relay') =>
      leaseLane(db(), { address, purpose, owner: 'another', now: kit().database.now, forMs: 600_000 });
    return { world, failures, deps, offers, looks, another };
  }

  test('payouts: what waits is sent at the start, and what comes later when it is told; each batch as large as it may be', async () => {
    await db().update(rewards).set({ failure: 'of another test' });
    let sequence = 900_000 + Number(BigInt(freshHash()) % 1_000_000n) * 100;
    const grant = async (count: number) => {
      const rows = Array.from({ length: count }, () => ({
        sequence: sequence++,
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
      await kit().database.atomically((tx) => recordRewards(tx, rows));
      return rows;
    };
    const { world, deps, offers, looks, another } = open(4);
    const signer = localKeySigner(generatePrivateKey());
    const escrow = freshAddress();
    const told: object[] = [];
    const payouts = createPayouts({
      ...deps,
      signer,
      escrow,
      rpc: escrowNode,
      progress: {
        carried: ({ rewardIds }) => void told.push(rewardIds),
        sent: () => void told.push(['sent', world.sent]),
      },
      settings: { batchMax: 2, offerMaxWei: 10n ** 18n, idlePollMs: NEVER_MS },
    });
    running.push(payouts.stop);
    const first = await grant(3);
    payouts.start();
    await offers(2);
    const ids = first.map(({ id }) => id);
    // Its callers hear of it before the follower looks for its block.
    await expect.poll(() => told).toEqual([ids.slice(0, 2), ['sent', 0], ids.slice(2), ['sent', 1]]);
    expect(world.sent).toBe(2);
    expect(world.offered.map(sequencesInPayout)).toEqual([
      [first[0]?.sequence, first[1]?.sequence],
      [first[2]?.sequence],
    ]);
    expect(parseTransaction(world.offered[0] as Hex).to).toBe(escrow);
    const rows = await db().select().from(transactions).where(eq(transactions.lane, signer.address));
    expect(rows.map(({ purpose }) => purpose)).toEqual(['payout', 'payout']);

    await grant(1);
    payouts.nudge();
    await offers(3);
    // One whose transaction did nothing is tried out first, and sent all the same where no node does that.
    const [again] = await grant(1);
    await db()
      .update(rewards)
      .set({ failedTries: 1 })
      .where(eq(rewards.sequence, again?.sequence ?? 0));
    payouts.nudge();
    await offers(4);
    expect(world.offered.map(sequencesInPayout).at(-1)).toEqual([again?.sequence]);
    await looks(() => payouts.reload());
    await payouts.stop();
    expect(await another(signer.address, 'payout')).toBeUndefined();
    await payouts.release();
    expect(await another(signer.address, 'payout')).toBeDefined();
  });

  test('relays: the lanes that have work are turned, each when it is told; a fault of one is told and tried again', async () => {
    await db().delete(gasWallets);
    const { world, failures, deps, offers, looks, another } = open(2);
    const keys = keysDerivedFrom(generatePrivateKey());
    const lane = keys(null).address;
    const perks = freshAddress();
    const relays = createRelays({
      ...deps,
      keys,
      perks,
      rpc: async () => encodeAbiParameters([{ type: 'bool' }], [true]),
      settings: { storeMax: 1, idlePollMs: NEVER_MS, gasCheckMs: NEVER_MS, gasLowWei: 1n, gasFullWei: 2n },
    });
    running.push(relays.stop);
    const queue = (count: number) =>
      kit().database.atomically((tx) =>
        storeRelays(
          tx,
          Array.from({ length: count }, () => ({
            id: freshKey('call'),
            lane,
            payer: 'service' as const,
            userAddress: freshAddress(),
            recipient: freshAddress(),
            data: '0xab' as const,
            valueWei: '0',
            gas: 90_000,
            permit: null,
            reservedGwei: 1,
            budgetDay: 1,
            createdAt: NOW_MS,
          })),
        ),
      );
    await queue(3);
    await relays.start();
    await offers(2);
    const [wallet] = await db().select().from(gasWallets);
    expect(wallet).toMatchObject({ payer: 'service', address: lane, ready: true });
    // Two are in flight; a block that holds one of them makes room.
    const include = async () => {
      const [oldest] = await unsettledTransactions(db(), lane);
      if (!oldest) throw new Error('none is in flight');
      await kit().database.atomically((tx) =>
        markIncluded(tx, {
          id: oldest.id,
          hash: oldest.hash,
          outcome: 'done',
          blockNumber: 1,
          blockHash: freshHash(),
          gasUsed: 1,
          gasPriceWei: '1',
          l1FeeWei: '0',
        }),
      );
    };
    await include();
    relays.reload();
    relays.onIncluded();
    await offers(3);
    await looks(() => {
      relays.reload();
      relays.nudge(lane);
    });
    expect(failures).toEqual([]);
    // The service's wallet sends gas money to those of brands.
    const wallet_ = freshAddress();
    const wish = { id: freshKey('top-up'), lane, wallet: wallet_, amountWei: 7n, nowMs: NOW_MS };
    await kit().database.atomically((tx) => requestTopUp(tx, wish));
    await include();
    relays.reload();
    relays.nudge(lane);
    await offers(4);
    expect(world.offered.some((raw) => parseTransaction(raw).to === wallet_)).toBe(true);

    world.fault = new TypeError('a fault');
    await include();
    await queue(1);
    relays.reload();
    relays.nudge(lane);
    await expect.poll(() => failures.length).toBeGreaterThan(0);
    world.fault = undefined;
    await relays.stop();
    expect(await another(lane, 'relay')).toBeDefined();
  });

  test('the loops of payouts, relays and gas wallets rest until they are woken', async () => {
    await db().update(rewards).set({ failure: 'of another test' });
    await db().delete(gasWallets);
    const { deps } = open();
    const turns = { payouts: 0, relays: 0, keeper: 0 };
    const counting = (which: keyof typeof turns) => ({
      ...clock,
      now() {
        turns[which] += 1;
        return NOW_MS;
      },
    });
    const payouts = createPayouts({
      ...deps,
      realClock: counting('payouts'),
      signer: localKeySigner(generatePrivateKey()),
      rpc: escrowNode,
      escrow: freshAddress(),
      progress: { carried() {}, sent() {} },
      settings: { batchMax: 2, offerMaxWei: 10n ** 18n, idlePollMs: NEVER_MS },
    });
    const chain = {
      ...deps.chain,
      async balanceWei() {
        turns.keeper += 1;
        return 10n ** 24n;
      },
    };
    const relays = createRelays({
      ...deps,
      chain,
      realClock: counting('relays'),
      keys: keysDerivedFrom(generatePrivateKey()),
      perks: freshAddress(),
      rpc: async () => encodeAbiParameters([{ type: 'bool' }], [true]),
      settings: { storeMax: 1, idlePollMs: NEVER_MS, gasCheckMs: NEVER_MS, gasLowWei: 1n, gasFullWei: 2n },
    });
    running.push(payouts.stop, relays.stop);
    payouts.start();
    await relays.start();
    await expectRest(() => turns.payouts);
    await expectRest(() => turns.relays);
    await expectRest(() => turns.keeper);
  });
});

/** A lane against a real ledger and a chain that says what a test tells it. */
import { type Hex, parseTransaction } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { createAlarms } from '../../src/chain/alarms.ts';
import { createLateBooking } from '../../src/chain/indexer/book-late.ts';
import { createLane } from '../../src/chain/lane/lane.ts';
import { localKeySigner } from '../../src/chain/lane/local-key.ts';
import type { LaneDeps, LaneSettings } from '../../src/chain/lane/types.ts';
import type { Receipt } from '../../src/chain/rpc/client.ts';
import { RpcAnswerError } from '../../src/chain/rpc/rpc.ts';
import type { SendOutcome } from '../../src/chain/rpc/send-outcome.ts';
import type { RpcTransaction } from '../../src/chain/rpc/signed-transaction.ts';
import type { Database } from '../../src/ledger/database/database.ts';
import { unsettledTransactions } from '../../src/ledger/transactions/transactions.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { silentLog } from '../../src/lib/log.ts';
import { delay, stopwatch } from '../../src/lib/timers.ts';
import { freshAddress } from '../kits/databases/databases.ts';

export const GWEI = 10n ** 9n;
export const ACCEPTED: SendOutcome = { kind: 'accepted' };
export const KNOWN: SendOutcome = { kind: 'known' };
export const UNKNOWN: SendOutcome = { kind: 'unknown', why: 'no answer' };
export const refused = (
  reason: Extract<SendOutcome, { kind: 'rejected' }>['reason'],
  certain = true,
): SendOutcome => ({ kind: 'rejected', reason, certain });

export const settings: LaneSettings = {
  purpose: 'setup',
  chainId: 7,
  inFlightMax: 3,
  storeMax: 2,
  leaseMs: 600_000,
  resendAfterMs: 1_000,
  bumpAfterMs: 5_000,
  untakenAfterMs: 10_000,
  fees: { feeCapWei: 100n * GWEI, priorityFeeWei: GWEI },
};

/** For lanes whose blocks are all read by those who know what is in them. */
export const nothingLate: LaneDeps['bookLate'] = async () => {
  throw new Error('a block holds something that nobody knew');
};

const NO_HEADER = { code: -32000, message: 'header not found' };

/** A lane of an account of its own; `turn` tells what it offered. */
export function startLane(
  database: Database,
  more: Partial<LaneSettings> & Partial<Pick<LaneDeps, 'settlements' | 'signer'>> = {},
) {
  const { settlements = {}, signer = localKeySigner(generatePrivateKey()), ...changed } = more;
  const world = {
    nowMs: 1_000_000,
    baseFeeWei: (10n * GWEI) as bigint | undefined,
    /** Transactions of the account in blocks, now; in the pool; and in a block of the ledger. */
    nonces: { latest: 0, pending: 0 } as Record<string, number>,
    /** What the node says to the next offers; else it takes what it does not have. */
    answers: [] as SendOutcome[],
    /** What the node has. */
    pool: new Set<Hex>(),
    offered: [] as Hex[],
    work: 0,
    told: [] as string[],
    sendTakesMs: 0,
    /** Blocks, by number, with what is in them; the account's nonce in one stands in `nonces` under its number. */
    blocks: new Map<number, { hash: Hex; transactions: RpcTransaction[] }>(),
    receipts: new Map<Hex, Receipt>(),
    /** Questions about blocks so far. */
    questions: 0,
    /** What happens once the chain has answered a question for the nonce. */
    afterNonce: undefined as (() => void) | undefined,
  };
  const clock = { now: () => world.nowMs, sleep: async () => {} };
  const alarms = createAlarms({ now: clock.now, log: silentLog });
  const lane = createLane({
    database,
    signer,
    clock,
    realClock: clock,
    alarms,
    settlements,
    bookLate: createLateBooking({
      clock,
      alarms,
      settings: {
        escrow: freshAddress(),
        token: freshAddress(),
        pointsSale: freshAddress(),
        firstBlock: 1,
        confirmations: 1,
        finalityBlocks: 2,
      },
      onIncluded: ({ outcome }) => void world.told.push(outcome),
    }),
    log: silentLog,
    crash: neverCrash,
    random: secureRandom(clock),
    owner: 'test',
    chain: {
      block: async (which: unknown) => {
        const known = world.blocks.get(Number(which));
        if (known) return { number: Number(which), hash: known.hash };
        if (world.baseFeeWei === undefined || which !== 'latest') return undefined;
        const { baseFeeWei } = world;
        return { number: 1, hash: '0x1', parentHash: '0x0', timestampSeconds: 1, baseFeeWei };
      },
      transactionsIn: async (number: number) => {
        world.questions += 1;
        return world.blocks.get(number);
      },
      receipt: async (hash: Hex) => world.receipts.get(hash),
      nonce: async (_: Hex, at: Hex | number | 'pending' | 'latest' = 'latest') => {
        if (typeof at === 'number') world.questions += 1;
        const nonce = world.nonces[at];
        if (nonce === undefined) throw new RpcAnswerError('eth_getTransactionCount', NO_HEADER);
        world.afterNonce?.();
        return nonce;
      },
      sendRaw: async (raw: Hex) => {
        world.offered.push(raw);
        if (world.sendTakesMs > 0) {
          // As long as it took by the ledger's clock, which is the machine's.
          const tookMs = stopwatch();
          await delay(world.sendTakesMs);
          world.nowMs += Math.ceil(tookMs());
        }
        const isKnown = world.pool.has(raw);
        const answer = world.answers.shift() ?? (isKnown ? KNOWN : ACCEPTED);
        if (answer === ACCEPTED) world.pool.add(raw);
        return answer;
      },
    } as unknown as LaneDeps['chain'],
    work: {
      isWaiting: async () => world.work > 0,
      async bindNext(_, ids) {
        const count = Math.min(world.work, ids.length);
        world.work -= count;
        return Array.from({ length: count }, () => ({
          to: freshAddress(),
          data: '0xabcd' as const,
          valueWei: 5n,
          gas: 50_000n,
        }));
      },
      stored: () => world.told.push('stored'),
      sent: () => world.told.push('sent'),
    },
    settings: { ...settings, ...changed },
  });
  const offers = () =>
    world.offered.map((raw) => {
      const { nonce = 0, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw);
      return `${nonce}: ${maxFeePerGas / GWEI} ${maxPriorityFeePerGas / GWEI}`;
    });
  return {
    world,
    lane,
    signer,
    alarms: () => alarms.list().map(({ code }) => code),
    facts: () => alarms.list()[0]?.facts,
    offers,
    /** What was offered since the last look. */
    async turn(afterMs = 0) {
      world.nowMs += afterMs;
      const before = world.offered.length;
      const outcome = await lane.turn();
      return [outcome, ...offers().slice(before)];
    },
    open: () => unsettledTransactions(database.db, signer.address),
  };
}

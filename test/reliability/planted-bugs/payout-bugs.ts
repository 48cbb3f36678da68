/** Planted bugs of events, rewards, lanes and the reading of blocks. */
import { keccak256 } from 'viem';
import { decodePayoutBatch, encodePayoutBatch } from '../../../src/chain/contracts/payout-batch.ts';
import type { Signer } from '../../../src/chain/lane/types.ts';
import type { Database, Queries } from '../../../src/ledger/database/database.ts';
import { ESCROW } from '../simulation/model/accounts.ts';
import type { Fault } from '../simulation/plan.ts';
import { execute } from '../simulation/sim-ledger.ts';
import type { World } from '../simulation/world.ts';
import { intercepting, NEXT_NONCE, only, replacing, rerun, sendAtOnce, sendingAtOnce } from './breakages.ts';
import type { Mutant, Parts } from './parts.ts';

/** Rewards of transactions that are in no block after a while wait again. */
const requeue = ({ work }: Parts, world: World): Partial<Parts> => ({
  work: {
    ...work,
    async bindNext(tx, transactionIds, fees) {
      const late = `select id from transactions where status = 'sent' and created_at < ?`;
      const again = `update rewards set transaction_id = null where transaction_id in (${late})`;
      await execute(tx, again, world.time.now() - 4_000);
      return work.bindNext(tx, transactionIds, fees);
    },
  },
});

/** Signs with `change` when the nonce was signed for before with another fee. */
const onBump = (
  signer: Signer,
  change: (one: Parameters<Signer['signTransaction']>[0]) => typeof one,
): Signer => {
  const first = new Map<number, unknown>();
  return {
    ...signer,
    signTransaction(one) {
      const { nonce = 0, maxFeePerGas } = one;
      const known = first.get(nonce);
      first.set(nonce, known ?? maxFeePerGas);
      return signer.signTransaction(known !== undefined && known !== maxFeePerGas ? change(one) : one);
    },
  };
};

/** Reads outside the commit what the commit then rests on, and writes without the row's own condition. */
const readThenWrite = (database: Database): Database => {
  const isRead = (text: string) => /^select .* from "claim_(?:counters|totals)"/.test(text);
  const nameOf = (text: string, params: unknown[]) => text + JSON.stringify(params);
  class Enough extends Error {}
  return {
    ...database,
    async atomically<T>(work: (tx: Queries) => Promise<T>) {
      const seen = new Map<string, { rows: unknown[] }>();
      const look = intercepting(async (run, text, params, method) => {
        const answer = await run(text, params, method);
        if (isRead(text)) seen.set(nameOf(text, params), answer);
        return answer;
      });
      await database
        .atomically(async (tx) => {
          await work(look(tx));
          throw new Enough();
        })
        .catch((error: unknown) => {
          if (!(error instanceof Enough)) throw error;
        });
      const write = intercepting(async (run, text, params, method) => {
        const known = seen.get(nameOf(text, params));
        return (
          known ?? run(text.replace(/ where \("claim_counters"\..* returning/s, ' returning'), params, method)
        );
      });
      return database.atomically((tx) => work(write(tx)));
    },
  };
};

export const payoutBugs: Mutant[] = [
  {
    name: 'nonce-from-chain',
    ddl: 'drop index transactions_nonce;',
    rewrite: only(NEXT_NONCE, replacing(' where ', ' where 1 = 0 and ')),
  },
  { name: 'requeue-at-new-nonce', wire: requeue },
  { name: 'requeue-without-bitmap', bitmap: false, wire: requeue },
  {
    name: 'timeout-is-failure',
    wire: ({ laneChain }, world) => ({
      laneChain: {
        ...laneChain,
        async sendRaw(raw) {
          const outcome = await laneChain.sendRaw(raw);
          if (outcome.kind === 'unknown') {
            await world.ledger.rows(
              `update rewards set failure = 'timeout', released_at = 1
               where transaction_id in (select transaction_id from attempts where raw = ?)`,
              raw,
            );
          }
          return outcome;
        },
      },
    }),
  },
  {
    name: 'send-before-store',
    wire: ({ signer }, world) => ({ signer: sendingAtOnce(signer, world) }),
  },
  {
    name: 'answer-before-store',
    wire({ signer, work, progress }) {
      let carrying = { id: '', rewardIds: [] as string[] };
      return {
        work: {
          ...work,
          async bindNext(tx, ids, fees) {
            const payloads = await work.bindNext(tx, ids, fees);
            const [id = ''] = ids;
            const { rows } = await execute(tx, 'select id from rewards where transaction_id = ?', id);
            carrying = { id, rewardIds: (rows as { id: string }[]).map((row) => row.id) };
            return payloads;
          },
        },
        signer: {
          ...signer,
          async signTransaction(one) {
            const raw = await signer.signTransaction(one);
            progress.carried({ ...carrying, hash: keccak256(raw) });
            progress.sent(carrying);
            return raw;
          },
        },
      };
    },
  },
  {
    name: 'no-reorganisations',
    wire: ({ followChain }, world) => ({
      followChain: {
        ...followChain,
        async block(which) {
          const block = await followChain.block(which);
          if (!block) return block;
          const hashOf = async (number: number) => {
            const read = 'select hash from followed_blocks where number = ?';
            return (await world.ledger.rows<{ hash: `0x${string}` }>(read, number))[0]?.hash;
          };
          const parentHash = (await hashOf(block.number - 1)) ?? block.parentHash;
          return { ...block, parentHash, hash: (await hashOf(block.number)) ?? block.hash };
        },
      },
    }),
  },
  { name: 'final-too-early', finalityBlocks: 0 },
  { name: 'counter-race', wire: ({ decideDatabase }) => ({ decideDatabase: readThenWrite(decideDatabase) }) },
  {
    name: 'no-fence',
    rewrite: only(/^select "epoch" from "lanes"/, (text) =>
      text
        .replace('"lanes"."epoch" = ?', '? is not null')
        .replace('"lanes"."lease_until" > ?', '? is not null'),
    ),
  },
  {
    name: 'bump-other-payload',
    wire: ({ signer }) => ({
      signer: onBump(signer, (one) => ({
        ...one,
        data: encodePayoutBatch(
          decodePayoutBatch(one.data ?? '0x').map((entry) => ({ ...entry, amount: entry.amount + 1n })),
        ),
      })),
    }),
  },
  {
    name: 'bump-before-store',
    wire({ signer }, world) {
      let bumping = false;
      const noticing = onBump(signer, (one) => {
        bumping = true;
        return one;
      });
      return {
        signer: {
          ...signer,
          async signTransaction(one) {
            bumping = false;
            const raw = await noticing.signTransaction(one);
            if (bumping) await sendAtOnce(world, raw);
            return raw;
          },
        },
      };
    },
  },
  { name: 'rerun-event-commit', wire: ({ decideDatabase }) => ({ decideDatabase: rerun(decideDatabase) }) },
  {
    name: 'failures-outlive-blocks',
    circumstances: {
      rates: new Map<Fault, number>([
        ['withdrawal', 1],
        ['reorganisation', 4],
      ]),
      events: 7,
      brands: 1,
      steps: 40,
      faultBudget: 8,
      finalityBlocks: 3,
      untilFinal: true,
    },
    rewrite: only(
      /^update "rewards" set "failure".*"failure" is not null/,
      replacing(' where ', ' where 1 = 0 and '),
    ),
  },
  {
    name: 'deposits-outlive-blocks',
    rewrite: replacing('delete from "movements" where ', 'delete from "movements" where 1 = 0 and '),
  },
  {
    name: 'never-offered-again',
    lane: { resendAfterMs: Number.POSITIVE_INFINITY, bumpAfterMs: Number.POSITIVE_INFINITY },
  },
  {
    // Was so once: the next try under the key was a new request, and was rewarded again.
    name: 'key-forgotten',
    rewrite: only(
      /^update "idempotency_keys" set "busy_until" = \? where .*"busy_until" = \?/,
      replacing(
        /^update .* set "busy_until" = \? where /,
        'delete from "idempotency_keys" where ? is not null and ',
      ),
    ),
  },
  {
    // Was so once: what the newest block shows was taken for what the ledger had read.
    name: 'nonce-lost-too-soon',
    wire: ({ laneChain }) => ({
      laneChain: { ...laneChain, nonce: (address) => laneChain.nonce(address) },
    }),
  },
  {
    // Was so once: a node that was behind, or on another fork, gave the receipts of some other block.
    name: 'receipts-of-any-block',
    wire: ({ followChain }) => ({
      followChain: {
        ...followChain,
        async block(which) {
          const block = await followChain.block(which);
          if (!block) return block;
          const { transactions: _, ...rest } = block;
          return rest;
        },
        blockReceipts: async (number) =>
          ((await followChain.blockReceipts(number)) ?? []).map(({ blockHash: _, ...receipt }) => receipt),
      },
    }),
  },
  {
    // Was so once: a replacement was stored for a transaction that another process had just seen in a block.
    name: 'replaced-after-its-block',
    circumstances: {
      rates: new Map<Fault, number>([
        ['base fee', 3],
        ['pool drop', 3],
      ]),
      replicas: 2,
      skewMs: [0, 0],
      events: 5,
      steps: 40,
      faultBudget: 8,
      confirmations: 1,
      statementGate: 0.3,
      brisk: 0,
      inFlightMax: 8,
      batchMax: 1,
      weights: {
        gate: 6,
        hurry: 1,
        submit: 4,
        turn: 3,
        follow: 2,
        mine: 1,
        tick: 2,
        fault: 2,
        deposit: 0.1,
      },
    },
    rewrite: only(
      /^update "transactions" set "status" = \?, "hash" = \? where /,
      replacing('"transactions"."status" in (?, ?)', '(? is not null and ? is not null)'),
    ),
  },
  {
    name: 'logs-of-anybody',
    wire: ({ followChain }) => ({
      followChain: {
        ...followChain,
        blockReceipts: async (number) =>
          (await followChain.blockReceipts(number))?.map((receipt) => ({
            ...receipt,
            logs: receipt.logs.map((log) => ({ ...log, address: ESCROW })),
          })),
      },
    }),
  },
  {
    name: 'large-block-without-logs',
    wire: ({ followChain }) => ({
      followChain: {
        ...followChain,
        logsIn: async () => [],
        async receipt(hash) {
          const receipt = await followChain.receipt(hash);
          return receipt && { ...receipt, logs: [] };
        },
      },
    }),
  },
];

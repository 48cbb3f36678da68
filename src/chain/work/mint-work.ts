/** The work of the mint lane: one mint a transaction, each tried out before it is signed, and settled by its block. */
import type { Database } from '../../ledger/database/database.ts';
import { bindMint, giveUpMint, settleMintQueue, waitingMints } from '../../ledger/payments/mint-queue.ts';
import type { Settle } from '../../ledger/transactions/settle.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Alarms } from '../alarms.ts';
import { simulateCalls } from '../contracts/calls/simulate.ts';
import { mintGasLimit, saleMintData } from '../contracts/sale-mint.ts';
import type { LaneWork } from '../lane/types.ts';
import type { Rpc } from '../rpc/rpc.ts';

type Hex = `0x${string}`;

interface MintWorkDeps {
  database: Database;
  rpc: Rpc;
  alarms: Alarms;
  /** The account that mints. */
  account: Hex;
  pointsSale: Hex;
  onSent: () => void;
  onGivenUp: () => void;
  realClock: Clock;
  /** How long refused mints wait until they are tried out again, when nothing new waits. */
  refusedRetryMs: number;
  /** Mints that are tried out with one request to a node, and signed in one commit at most. */
  batchMax: number;
}

/** What the sale says of a call that can never run: no role, cap or time makes it another answer. */
const NEVER_RUNS = /^(?:InvalidRecipient|ZeroAmount|ERC20InvalidReceiver)\b/;

export interface MintWork extends LaneWork {
  /**
   * Tries out what waits. What would have its effect may be sent from now on; a call that can never run is given up with
   * the contract's reason; anything else waits, with an alarm that names the reason. Rejects when no node answers.
   */
  tryOut(): Promise<void>;
}

export function mintWork(deps: MintWorkDeps): MintWork {
  const { database, rpc, alarms, realClock, account, pointsSale, batchMax } = deps;
  let mayBeSent = new Set<Hex>();
  let refused = new Set<Hex>();
  let triedAtMs = Number.NEGATIVE_INFINITY;
  return {
    async tryOut() {
      const waiting = await waitingMints(database.db, batchMax);
      const stillWait = (known: Set<Hex>) =>
        new Set(waiting.flatMap(({ key }) => (known.has(key) ? key : [])));
      mayBeSent = stillWait(mayBeSent);
      refused = stillWait(refused);
      if (refused.size === 0) alarms.clear('mint_refused', account);
      const isNew = waiting.length > mayBeSent.size + refused.size;
      const isTimeAgain = refused.size > 0 && realClock.now() - triedAtMs >= deps.refusedRetryMs;
      if (!isNew && !isTimeAgain) return;
      const calls = waiting.map((mint) => ({
        ...{ from: account, to: pointsSale, data: saleMintData(mint) },
        ...{ valueWei: 0n, gas: mintGasLimit(mint.kind) },
      }));
      const trials = await simulateCalls(rpc, calls);
      triedAtMs = realClock.now();
      let first: { mint: Hex; reason: string } | undefined;
      for (const [place, { key }] of waiting.entries()) {
        const trial = trials[place];
        if (!trial) continue;
        mayBeSent.delete(key);
        refused.delete(key);
        if (trial.succeeded) {
          mayBeSent.add(key);
        } else if (NEVER_RUNS.test(trial.reason)) {
          if (await giveUpMint(database.db, { key, failure: trial.reason }))
            alarms.raise('mint_given_up', key, { reason: trial.reason });
          deps.onGivenUp();
        } else {
          refused.add(key);
          first ??= { mint: key, reason: trial.reason };
        }
      }
      if (first) alarms.raise('mint_refused', account, first);
      else alarms.clear('mint_refused', account);
    },
    async bindNext(tx, transactionId) {
      const waiting = await waitingMints(tx, batchMax);
      const next = waiting.find(({ key }) => mayBeSent.has(key));
      if (!next) return undefined;
      await bindMint(tx, { key: next.key, transactionId });
      return { to: pointsSale, data: saleMintData(next), valueWei: 0n, gas: mintGasLimit(next.kind) };
    },
    sent: deps.onSent,
  };
}

/** Mints whose transaction did nothing wait again. */
export const settleMints: Settle = (tx, { transactions }) =>
  settleMintQueue(
    tx,
    transactions.flatMap(({ id, outcome }) => (outcome === 'done' ? [] : id)),
  );

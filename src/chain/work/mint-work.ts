/** The work of the mint lane: one mint a transaction, each tried out before it is signed, and settled by its block. */
import { bindMint, giveUpMint, settleMintQueue, waitingMints } from '../../ledger/payments/mint-queue.ts';
import type { Settle } from '../../ledger/transactions/settle.ts';
import { mintGasLimit, saleMintData } from '../contracts/sale-mint.ts';
import { type TriedQueue, type TriedWork, type TriedWorkDeps, triedWork } from './tried-work.ts';

type Hex = `0x${string}`;

/** What the sale says of a call that can never run: no role, cap or time makes it another answer. */
const NEVER_RUNS = /^(?:InvalidRecipient|ZeroAmount|ERC20InvalidReceiver)\b/;

const mintQueue = (pointsSale: Hex): TriedQueue => ({
  async waiting(db, limit) {
    const mints = await waitingMints(db, limit);
    return mints.map((mint) => ({
      ...{ key: mint.key, to: pointsSale, data: saleMintData(mint) },
      gas: mintGasLimit(mint.kind),
    }));
  },
  bind: bindMint,
  giveUp: giveUpMint,
  neverRuns: (reason) => NEVER_RUNS.test(reason),
  alarms: { refused: 'mint_refused', givenUp: 'mint_given_up' },
  what: () => 'mint',
});

export const mintWork = (deps: Omit<TriedWorkDeps, 'queue'> & { pointsSale: Hex }): TriedWork =>
  triedWork({ ...deps, queue: mintQueue(deps.pointsSale) });

/** Mints whose transaction did nothing wait again. */
export const settleMints: Settle = (tx, { transactions }) =>
  settleMintQueue(
    tx,
    transactions.flatMap(({ id, outcome }) => (outcome === 'done' ? [] : id)),
  );

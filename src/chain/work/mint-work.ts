/** The mint lane and its work: one mint a transaction, each tried out before it is signed, and settled by its block. */
import {
  bindMint,
  firstRefusedMint,
  giveUpMint,
  noteRefusedMint,
  settleMintQueue,
  waitingMints,
} from '../../ledger/payments/mint-queue.ts';
import type { Settle } from '../../ledger/transactions/settle.ts';
import type { Hex } from '../../lib/hex.ts';
import { mintGasLimit, saleMintData } from '../contracts/sale-mint.ts';
import {
  createTriedLane,
  type SimulatedQueue,
  type SimulatedWork,
  type SimulatedWorkDeps,
  simulatedWork,
  type TriedLaneDeps,
} from './simulated-work.ts';

/** What the sale says of a call that can never run: no role, cap or time makes it another answer. */
const NEVER_RUNS: ReadonlySet<string> = new Set(['InvalidRecipient', 'ZeroAmount', 'ERC20InvalidReceiver']);

const mintQueue = (pointsSale: Hex): SimulatedQueue => ({
  async waiting(db, window) {
    const mints = await waitingMints(db, window);
    return mints.map((mint) => ({
      key: mint.key,
      to: pointsSale,
      data: saleMintData(mint),
      gas: mintGasLimit(mint.kind),
    }));
  },
  bind: bindMint,
  giveUp: giveUpMint,
  noteRefused: noteRefusedMint,
  // The sale calls no code but its own, so the other mints of a window can make one fail only by using up the cap.
  postpone: async () => {},
  firstRefused: firstRefusedMint,
  neverRuns: (_, error) => NEVER_RUNS.has(error),
  alarms: { refused: 'mint_refused', givenUp: 'mint_given_up' },
  what: () => 'mint',
});

export const mintWork = (deps: Omit<SimulatedWorkDeps, 'queue'> & { pointsSale: Hex }): SimulatedWork =>
  simulatedWork({ ...deps, queue: mintQueue(deps.pointsSale) });

/** Mints whose transaction did nothing wait again. */
export const settleMints: Settle = (tx, { transactions }) =>
  settleMintQueue(
    tx,
    transactions.flatMap(({ id, outcome }) => (outcome === 'done' ? [] : id)),
  );

/** The mint lane: RWT for payments and operators. */
export const createMints = (deps: TriedLaneDeps & { pointsSale: `0x${string}` }) =>
  createTriedLane(deps, {
    name: 'mints',
    purpose: 'mint',
    workOf: (of) => mintWork({ ...of, pointsSale: deps.pointsSale }),
  });

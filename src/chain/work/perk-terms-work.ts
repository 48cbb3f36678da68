/** Terms of perks as work of the redeem lane: told to the contract one by one, those of each perk in their order. */
import type { Database } from '../../ledger/database/database.ts';
import {
  bindTerms,
  firstRefusedTerms,
  giveUpTerms,
  noteRefusedTerms,
  type QueuedTerms,
  waitingTerms,
} from '../../ledger/perks/perk-terms.ts';
import type { Hex } from '../../lib/hex.ts';
import { PERK_TERMS_GAS_LIMIT, perkTermsData } from '../contracts/calls/perk-calls.ts';
import type { SimulatedQueue } from './simulated-work.ts';

type Place = Pick<QueuedTerms, 'tokenId' | 'position'>;

/** What the contract says of terms that no time makes right. */
const NEVER_RUNS: ReadonlySet<string> = new Set(['StockNotChangeable', 'InvalidBrand']);

const POSITION_DIGITS = 8;
/** Short, so that it is told from a redemption's key of 32 bytes. */
const termsKey = ({ tokenId, position }: Place): Hex =>
  `0x${tokenId.toString(16)}${position.toString(16).padStart(POSITION_DIGITS, '0')}`;
export const isTermsKey = (key: Hex) => key.length < 66;
const placeOf = (key: Hex): Place => ({
  tokenId: Number.parseInt(key.slice(2, -POSITION_DIGITS), 16),
  position: Number.parseInt(key.slice(-POSITION_DIGITS), 16),
});

export const perkTermsQueue = ({
  database,
  perks,
}: {
  database: Database;
  perks: Hex;
}): Omit<SimulatedQueue, 'alarms' | 'what'> => ({
  async waiting(db, window) {
    const terms = await waitingTerms(db, window);
    return terms.map((one) => ({
      key: termsKey(one),
      to: perks,
      data: perkTermsData(one),
      gas: PERK_TERMS_GAS_LIMIT,
    }));
  },
  bind: (tx, { key, transactionId }) => bindTerms(tx, { ...placeOf(key), transactionId }),
  // With the stock that it gives back, in one commit.
  giveUp: (_, { key, failure }) => database.atomically((tx) => giveUpTerms(tx, { ...placeOf(key), failure })),
  noteRefused: (db, { key, ...refusal }) => noteRefusedTerms(db, { ...placeOf(key), ...refusal }),
  // Only the contract's own code runs, so the other terms of a window cannot make one fail.
  postpone: async () => {},
  async firstRefused(db) {
    const first = await firstRefusedTerms(db);
    return first && { key: termsKey(first), reason: first.reason };
  },
  neverRuns: (_, error) => NEVER_RUNS.has(error),
});

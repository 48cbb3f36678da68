/** Planted bugs of mints: their plan, their binding to a transaction, what settles them, and what callers are told. */
import { settleMintQueue } from '../../../src/ledger/payments/mint-queue.ts';
import { only, replacing } from './breakages.ts';
import type { Mutant } from './parts.ts';

const OF_MINTS = /^(?:select|update) .*"mints"/;

export const mintBugs: Mutant[] = [
  {
    // A later caller's plan takes the mint out of the transaction that carries it.
    name: 'mint-planned-again',
    rewrite: only(/^insert into "mints"/, (text) =>
      text.replace(
        /on conflict .*do nothing/,
        'on conflict ("session_id") do update set "transaction_id" = null',
      ),
    ),
  },
  {
    // Mints whose transaction is in no block after a while are bound to another.
    name: 'mint-rebound',
    rewrite: only(
      OF_MINTS,
      replacing(
        '"mints"."transaction_id" is null',
        `("mints"."transaction_id" is null or "mints"."transaction_id" in
          (select id from transactions where status = 'sent' and created_at < now_ms() - 4000))`,
      ),
    ),
  },
  {
    // A transaction that did nothing counts as the mint.
    name: 'mint-never-again',
    searchFrom: 1_400,
    wire: ({ settlements: { mint: _, ...others } }) => ({ settlements: others }),
  },
  {
    // Every final transaction lets its mint wait again.
    name: 'mint-settled-by-any-block',
    wire: ({ settlements }) => ({
      settlements: {
        ...settlements,
        mint: (tx, { transactions }) =>
          settleMintQueue(
            tx,
            transactions.map(({ id }) => id),
          ),
      },
    }),
  },
  {
    // Callers are told of a block as soon as a node has the bytes.
    name: 'mint-answers-when-sent',
    rewrite: only(/^select .* from "mints" left join "transactions"/, (text) =>
      text
        .replace('"transactions"."status"', `replace("transactions"."status", 'sent', 'included')`)
        .replace('"transactions"."outcome"', `coalesce("transactions"."outcome", 'done')`),
    ),
  },
];

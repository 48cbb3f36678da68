/** Planted bugs of redemptions: what they reserve, their binding to a transaction, what settles them, and what callers are told. */
import { settleRedemptionQueue } from '../../../src/ledger/perks/redemption-queue.ts';
import { only, replacing } from './breakages.ts';
import type { Mutant } from './parts.ts';

const OF_REDEMPTIONS = /^(?:select|update) .*"redemptions"/;

export const redemptionBugs: Mutant[] = [
  {
    // RWT that redemptions under way will take can be spent again.
    name: 'redemption-reserves-nothing',
    rewrite: only(
      /^select .*"redemptions"/,
      replacing('coalesce(sum("redemptions"."cost"), 0)', 'coalesce(sum("redemptions"."cost"), 0) * 0'),
    ),
  },
  {
    // The same with the stock.
    name: 'redemption-stock-uncounted',
    rewrite: only(/^select "redemptions"\."token_id"/, replacing('count(*)', 'count(*) * 0')),
  },
  {
    // Redemptions whose transaction is in no block after a while are bound to another.
    name: 'redemption-rebound',
    rewrite: only(
      OF_REDEMPTIONS,
      replacing(
        '"redemptions"."transaction_id" is null',
        `("redemptions"."transaction_id" is null or "redemptions"."transaction_id" in
          (select id from transactions where status = 'sent' and created_at < now_ms() - 4000))`,
      ),
    ),
  },
  {
    // A transaction that did nothing counts as the redemption.
    name: 'redemption-never-fails',
    wire: ({ settlements: { redeem: _, ...others } }) => ({ settlements: others }),
  },
  {
    // Every final transaction counts as one that did nothing.
    name: 'redemption-settled-by-any-block',
    wire: ({ settlements }) => ({
      settlements: {
        ...settlements,
        redeem: (tx, { transactions, nowMs }) =>
          settleRedemptionQueue(tx, {
            transactions: transactions.map(({ id }) => ({ id, outcome: 'reverted' })),
            nowMs,
          }),
      },
    }),
  },
  {
    // Callers are told of a block as soon as a node has the bytes.
    name: 'redemption-answers-when-sent',
    rewrite: only(/^select .* from "redemptions" left join "transactions"/, (text) =>
      text
        .replace('"transactions"."status"', `replace("transactions"."status", 'sent', 'included')`)
        .replace('"transactions"."outcome"', `coalesce("transactions"."outcome", 'done')`),
    ),
  },
];

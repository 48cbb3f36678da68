/** Planted bugs of the relay: its queue, its limits, its lanes, and what it charges. */
import { changingStatements, NEXT_NONCE, only, replacing, rerun, sendingAtOnce } from './breakages.ts';
import type { Mutant } from './parts.ts';

const NEXT_RELAY = /^select .* from "relays" where .*"transaction_id" is null.* order by .* limit/;

export const relayBugs: Mutant[] = [
  {
    // Calls whose transaction is in no block after a while are bound to another.
    name: 'relay-rebinds-call',
    rewrite: only(
      NEXT_RELAY,
      replacing(
        '"relays"."transaction_id" is null',
        `("relays"."transaction_id" is null or "relays"."transaction_id" in
          (select id from transactions where status = 'sent' and created_at < now_ms() - 4000))`,
      ),
    ),
  },
  {
    name: 'relay-permit-apart',
    rewrite: only(
      NEXT_RELAY,
      replacing(' order by ', ' order by "relays"."permit_transaction_id" is not null, '),
    ),
  },
  {
    name: 'relay-window-read-only',
    rewrite: only(
      /^insert into "rate_windows"/,
      replacing('"rate_windows"."used" + excluded.used <= ?', '? is not null'),
    ),
  },
  {
    name: 'relay-window-one-short',
    rewrite: only(
      /^select .*"rate_windows"/,
      replacing('"rate_windows"."used"', '"rate_windows"."used" + 1'),
    ),
  },
  {
    name: 'relay-budget-read-only',
    rewrite: only(
      /^insert into "gas_budgets"/,
      replacing(/ where "gas_budgets"\."spent_gwei" \+ \? <= \?/, ' where ? is not null and ? is not null'),
    ),
  },
  {
    name: 'relay-shares-not-returned',
    rewrite: only(/^update "gas_shares" set/, replacing(' where ', ' where 1 = 0 and ')),
  },
  {
    // A call that its user's window refuses keeps what was taken from the payer's budget.
    name: 'relay-refusals-keep-gas',
    wire: ({ queueDatabase }) => ({
      queueDatabase: changingStatements(
        queueDatabase,
        only(/^update "gas_budgets" set/, replacing(' where ', ' where 1 = 0 and ')),
      ),
    }),
  },
  {
    name: 'relay-keeps-gas-of-lost-calls',
    searchFrom: 11_700,
    wire: ({ settlements: { relay: _, ...others } }) => ({ settlements: others }),
  },
  {
    name: 'relay-uses-payout-nonce',
    ddl: 'drop index transactions_nonce;',
    wire: ({ relayDatabase }) => ({
      relayDatabase: changingStatements(
        relayDatabase,
        only(NEXT_NONCE, replacing('"transactions"."lane" = ?', '? is not null')),
      ),
    }),
  },
  {
    name: 'relay-sends-before-store',
    wire: ({ relayKeys }, world) => ({
      relayKeys: (keyIndex) => sendingAtOnce(relayKeys(keyIndex), world),
    }),
  },
  {
    // A commit that reported a failure is made again, though it may have succeeded.
    name: 'relay-queued-again',
    ddl: 'drop index relays_id;',
    wire: ({ queueDatabase }) => ({ queueDatabase: rerun(queueDatabase) }),
  },
  {
    // Callers are told of a block as soon as a node has the bytes.
    name: 'relay-answers-when-sent',
    rewrite: only(/^select .* from "relays" left join "transactions"/, (text) =>
      text
        .replace('"transactions"."status"', `replace("transactions"."status", 'sent', 'included')`)
        .replace('"transactions"."outcome"', `coalesce("transactions"."outcome", 'done')`),
    ),
  },
];

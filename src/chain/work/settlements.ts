/** Every kind of work that settles. A new kind needs a file beside these and a line here. */
import type { Settlements } from '../../ledger/transactions/settle.ts';
import { settleMints } from './mint-work.ts';
import { settlePayouts } from './payout-work.ts';
import { settleRedemptions } from './redeem-work.ts';
import { settleRelays } from './relay-work.ts';

export const settlements: Settlements = {
  relay: settleRelays,
  payout: settlePayouts,
  mint: settleMints,
  redeem: settleRedemptions,
};

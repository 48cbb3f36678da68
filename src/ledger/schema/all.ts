/** Every table of the ledger. Times are milliseconds since 1970. */
import { brandDomains, brandKeys, brands, eventRules } from './brands.ts';
import { journalBlocks } from './chain-journal.ts';
import { counters } from './counters.ts';
import { facts } from './facts.ts';
import { idempotencyKeys, rateWindows } from './limits.ts';
import { gasBudgets, gasTopUps, gasWallets, relays } from './relay.ts';
import { brandFunds, claimCounters, claimTotals, movements, rewards } from './rewards.ts';
import { attempts, followedBlocks, lanes, transactions } from './transactions.ts';
import { oauthIdentities, wallets } from './wallets.ts';

export const everyTable = {
  brands,
  brandDomains,
  brandKeys,
  idempotencyKeys,
  eventRules,
  claimCounters,
  claimTotals,
  brandFunds,
  movements,
  counters,
  wallets,
  rewards,
  lanes,
  transactions,
  attempts,
  followedBlocks,
  journalBlocks,
  facts,
  rateWindows,
  gasWallets,
  gasBudgets,
  relays,
  gasTopUps,
  oauthIdentities,
};

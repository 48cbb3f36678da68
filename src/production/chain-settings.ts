/** The rows of the settings of `rewards start` that concern gas, blocks and what is offered for them. */
import { amount, durationBetween, wholeNumber } from '../lib/setting.ts';
import { setting } from './start-setting.ts';

/** Nodes of one's own keep that many of an account. */
export const IN_FLIGHT_MOST = 512;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const chainSettings = {
  gasBudget: setting(
    '--gas-budget <amount>',
    amount,
    "what a brand's users may spend for gas in a day, in the chain's currency",
    { default: '10' },
  ),
  gasUserShare: setting(
    '--gas-user-share <percent>',
    wholeNumber(1, 100),
    'percent of that which one user may spend; one call a day is always allowed',
    { default: '5' },
  ),
  gasLow: setting('--gas-low <amount>', amount, "a brand's gas wallet is topped up below this balance", {
    default: '1',
  }),
  gasFull: setting('--gas-full <amount>', amount, 'its balance after a top-up', { default: '3' }),
  confirmations: setting(
    '--confirmations <n>',
    wholeNumber(1, 10_000),
    'confirmations that a block needs before it is read, its own included',
    { default: '2' },
  ),
  finalityBlocks: setting(
    '--finality-blocks <n>',
    wholeNumber(1, 100_000),
    'depth at which a block counts as final',
    { default: '64' },
  ),
  blockPollMs: setting(
    '--block-poll <duration>',
    durationBetween(10, HOUR_MS),
    'how often the chain is asked for a new block',
    { default: '1s' },
  ),
  blockLagMaxMs: setting(
    '--block-lag-max <duration>',
    durationBetween(100, DAY_MS),
    'how long a block may stay unread before an alarm is raised and /readyz says so',
    { default: '1m' },
  ),
  checkEveryMs: setting(
    '--check-every <duration>',
    durationBetween(100, HOUR_MS),
    'how often gas wallets and clocks are looked at, and how long a node that failed rests',
    { default: '10s' },
  ),
  inFlightMax: setting(
    '--in-flight-max <n>',
    wholeNumber(1, IN_FLIGHT_MOST),
    'most pending transactions of one account',
    { default: '16' },
  ),
  feeCapGwei: setting('--fee-cap-gwei <n>', amount, 'highest price offered for a unit of gas', {
    default: '100',
    reach: 'prices',
  }),
  priorityFeeGwei: setting('--priority-fee-gwei <n>', amount, 'priority fee offered to block builders', {
    default: '1',
  }),
  offerMax: setting(
    '--offer-max <amount>',
    amount,
    "most that one payout transaction offers for its gas, in the chain's currency; nodes refuse what is above a cap of theirs",
    { default: '0.9' },
  ),
};

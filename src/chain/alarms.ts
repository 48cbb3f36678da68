/** Alarms of the chain side: conditions that an operator must see, or that pass with time. */
import type { Log, LogFields } from '../lib/log.ts';

export type AlarmCode =
  /** The account has transactions that are not ours: the lane stops. */
  | 'foreign_nonce'
  /** A foreign transaction used the nonce of one of ours. */
  | 'nonce_lost'
  /** The account cannot pay for gas. */
  | 'gas_money_low'
  /** The account that keeps the others in gas money has little left. */
  | 'gas_reserve_low'
  /** The key of a gas wallet does not belong to the address in the ledger. */
  | 'gas_wallet_key'
  /** Gas costs more than the cap allows. */
  | 'fee_over_cap'
  /** A transaction of ours had no effect. */
  | 'transaction_reverted'
  /** No node has taken the lowest transaction of a lane, which all others wait for, in a while. */
  | 'transaction_not_taken'
  /** The node says that signed bytes are not a transaction. */
  | 'transaction_malformed'
  /** The escrow did not pay a reward that the ledger had promised. */
  | 'reward_skipped'
  /** A reward has waited for a transaction for a while. */
  | 'reward_waiting'
  /** The sale refuses mints that wait: a role or its cap is missing. */
  | 'mint_refused'
  /** A mint was given up, since its call can never run. */
  | 'mint_given_up'
  /** A mint has waited for a transaction for a while. */
  | 'mint_waiting'
  /** PerkNFT refuses redemptions that wait: a role is missing. */
  | 'redemption_refused'
  /** A redemption has waited for a transaction for a while. */
  | 'redemption_waiting'
  /** The token lets nothing more be collected in this hour without the holders' allowance. */
  | 'redemption_limit'
  /** The ledger has not read the chain's blocks for a while. */
  | 'block_lag'
  /** This machine's clock is not the database's. */
  | 'clock_differs'
  /** A brand's events have earned what it lets them earn in an hour or a day. */
  | 'spend_limit'
  /** A rule pays per dollar and has no limit for it: the order's total does not count. */
  | 'rule_without_max_reward'
  /** A consumer could not digest what was paid, minted or redeemed for a brand. */
  | 'facts_set_aside'
  /** A brand's webhook endpoint was turned off for what it answered. */
  | 'webhook_endpoint_off'
  /** A comparison of ledger and chain found differences. */
  | 'ledger_differs';

/** What to do about each, in a line; docs/operations.md says more. */
export const remedies: Readonly<Record<AlarmCode, string>> = {
  foreign_nonce:
    'Find out who else sends with the key of this account; `rewards lane show` compares its nonces.',
  nonce_lost:
    'Find out who else sends with the key; with `unknown`, add a node that has the state of older blocks.',
  gas_money_low: 'Send native currency to the account; `rewards doctor money` says how much.',
  gas_reserve_low: "Send native currency to the service's own gas wallet.",
  gas_wallet_key: 'Start with the relay key that the ledger was begun with.',
  fee_over_cap: 'Wait until gas is cheaper, or raise the cap.',
  transaction_reverted: 'Look at the transaction on chain: usually the account has lost its role.',
  transaction_not_taken: 'Look for `did not take a transaction` in the log, and add a node.',
  transaction_malformed: 'Compare REWARDS_CHAIN_ID with the node, and try another node.',
  reward_skipped: "Look at the reason in the log: usually the brand's escrow has too little.",
  reward_waiting: 'Look at the other alarms of the payout account, and whether a process with its key runs.',
  mint_refused: '`rewards contracts show` says which role or cap is missing.',
  mint_given_up: '`rewards verify` names the session; give the money back, or mint with `rewards mint --to`.',
  mint_waiting: 'Look at the other alarms of the mint account, and whether a process with its key runs.',
  redemption_refused: '`rewards contracts show` says which role is missing.',
  redemption_waiting:
    'Look at the other alarms of the redemption account, and whether a process with its key runs.',
  redemption_limit: 'Wait for the hour to end, or raise the cap with `setCollectCap`.',
  block_lag: 'Look for lines of the loop `follower` in the log, and add a node that answers what they name.',
  clock_differs: 'Set the clocks of this machine and of the database by NTP.',
  spend_limit: 'Look at what earns; raise spendPerHour or spendPerDay where the traffic is honest.',
  rule_without_max_reward: 'Give the rule a limit: `rewards brand rule <brand> <event> --max-reward <rwt>`.',
  facts_set_aside: 'Correct what `error` names; it is tried again by itself.',
  webhook_endpoint_off: '`rewards webhooks endpoints enable <id>` once its server answers.',
  ledger_differs: 'Run `rewards verify`.',
};

/** All of them, so that each has a figure before it is ever raised. */
export const alarmCodes = Object.keys(remedies) as AlarmCode[];

export interface Alarm {
  code: AlarmCode;
  /** What it is about, such as a lane's address. */
  about: string;
  sinceMs: number;
  facts: LogFields;
}

export interface Alarms {
  /**
   * An alarm that is raised again while it lasts keeps its start time and is not logged twice. `isOver`: it also ends
   * by itself, as soon as that is true.
   */
  raise(code: AlarmCode, about: string, facts?: LogFields, ends?: { isOver: () => boolean }): void;
  clear(code: AlarmCode, about: string): void;
  list(): Alarm[];
}

export function createAlarms(deps: { now: () => number; log: Log }): Alarms {
  const active = new Map<string, Alarm & { isOver?: (() => boolean) | undefined }>();
  const clear = (code: AlarmCode, about: string) => {
    if (active.delete(`${code} ${about}`)) deps.log.info({ alarm: code, about }, 'alarm is over');
  };
  const endThoseThatAreOver = () => {
    for (const { code, about, isOver } of [...active.values()]) if (isOver?.()) clear(code, about);
  };
  return {
    raise(code, about, facts = {}, ends) {
      endThoseThatAreOver();
      const key = `${code} ${about}`;
      const known = active.get(key);
      active.set(key, { code, about, facts, sinceMs: known?.sinceMs ?? deps.now(), isOver: ends?.isOver });
      if (!known) deps.log.error({ alarm: code, about, ...facts }, 'alarm');
    },
    clear(code, about) {
      clear(code, about);
      endThoseThatAreOver();
    },
    list() {
      endThoseThatAreOver();
      return [...active.values()].map(({ code, about, sinceMs, facts }) => ({ code, about, sinceMs, facts }));
    },
  };
}

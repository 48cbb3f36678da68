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

/** All of them, so that each has a figure before it is ever raised. */
export const alarmCodes = Object.keys({
  foreign_nonce: true,
  nonce_lost: true,
  gas_money_low: true,
  gas_reserve_low: true,
  gas_wallet_key: true,
  fee_over_cap: true,
  transaction_reverted: true,
  transaction_not_taken: true,
  transaction_malformed: true,
  reward_skipped: true,
  reward_waiting: true,
  mint_refused: true,
  mint_given_up: true,
  mint_waiting: true,
  redemption_refused: true,
  redemption_waiting: true,
  redemption_limit: true,
  block_lag: true,
  clock_differs: true,
  spend_limit: true,
  rule_without_max_reward: true,
  facts_set_aside: true,
  webhook_endpoint_off: true,
  ledger_differs: true,
} satisfies Record<AlarmCode, true>);

interface Alarm {
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

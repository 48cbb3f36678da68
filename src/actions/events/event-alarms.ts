/** Raises the alarms that decisions give cause for: a spend limit that refuses, a rule that could pay without an end. */
import type { Alarms } from '../../chain/alarms.ts';
import type { Clock } from '../../lib/clock.ts';
import { paysWithoutEnd } from '../../rules/events/reward-amount.ts';
import type { EventDecision } from './decide-events.ts';

export interface EventAlarmsDeps {
  alarms: Pick<Alarms, 'raise' | 'clear'>;
  /** The clock of the decisions. */
  clock: Pick<Clock, 'now'>;
}

/** Alarms of earlier decisions end when their limit passes, or when their rule has its `maxReward`. */
export function raiseEventAlarms(deps: EventAlarmsDeps, decision: EventDecision): void {
  if ('refusal' in decision && decision.refusal.code === 'spend_limit') raiseSpendLimit(deps, decision);
  const { rule } = decision;
  if (!rule) return;
  const about = `${rule.brandId} ${rule.eventType}`;
  if (!paysWithoutEnd(rule)) deps.alarms.clear('rule_without_max_reward', about);
  else deps.alarms.raise('rule_without_max_reward', about, { paysInstead: rule.rewardAmount });
}

function raiseSpendLimit(
  { alarms, clock }: EventAlarmsDeps,
  { brand, refusal }: Extract<EventDecision, { refusal: unknown }>,
): void {
  if (!brand || refusal.code !== 'spend_limit') return;
  const { span, limit, spent, required, endsAtMs } = refusal;
  const facts = { limit, spent, required, endsAt: new Date(endsAtMs).toISOString() };
  alarms.raise('spend_limit', `${brand.brandId} ${span}`, facts, { isOver: () => clock.now() >= endsAtMs });
}

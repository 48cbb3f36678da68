/** Raises the alarms that decisions give cause for: a spend limit that refuses, a rule that could pay without an end. */
import type { Alarms } from '../../chain/alarms.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Brand } from '../../rules/brands/brand.ts';
import type { ClaimRefusal } from '../../rules/events/claim-policy.ts';
import { paysWithoutEnd } from '../../rules/events/reward-amount.ts';
import type { EventDecision } from './decide-events.ts';

export interface EventAlarmsDeps {
  alarms: Pick<Alarms, 'raise' | 'clear'>;
  /** The clock of the decisions. */
  clock: Pick<Clock, 'now'>;
}

/** Alarms of earlier decisions end when their limit passes, or when their rule has its `maxReward`. */
export function raiseEventAlarms(deps: EventAlarmsDeps, decision: EventDecision): void {
  const { brand, rule } = decision;
  const refusal = 'refusal' in decision ? decision.refusal : undefined;
  if (brand && refusal?.code === 'spend_limit') raiseSpendLimit(deps, brand, refusal);
  if (!rule) return;
  const about = `${rule.brandId} ${rule.eventType}`;
  if (!paysWithoutEnd(rule)) deps.alarms.clear('rule_without_max_reward', about);
  else deps.alarms.raise('rule_without_max_reward', about, { paysInstead: rule.rewardAmount });
}

function raiseSpendLimit(
  { alarms, clock }: EventAlarmsDeps,
  { brandId }: Brand,
  { span, limit, spent, required, endsAtMs }: Extract<ClaimRefusal, { code: 'spend_limit' }>,
): void {
  const facts = { limit, spent, required, endsAt: new Date(endsAtMs).toISOString() };
  alarms.raise('spend_limit', `${brandId} ${span}`, facts, { isOver: () => clock.now() >= endsAtMs });
}

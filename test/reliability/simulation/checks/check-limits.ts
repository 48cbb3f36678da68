/** Judges what was granted against the limits of its rule, from the rewards' own rows. */

import { RULES } from '../sim-ledger.ts';
import type { World } from '../world.ts';
import type { Evidence, RewardRow } from './checks.ts';

const DUPLICATE_WINDOW_MS = 60_000;

const isTrusted = ({ metadata }: RewardRow) => metadata.includes('voice_claim');

export async function checkLimits(
  { findings, ledger, requests }: World,
  { rewards, recovered }: Evidence,
): Promise<void> {
  const skipping = new Set(
    requests.filter(({ submission }) => submission.skipCooldown).flatMap(({ rewardIds }) => rewardIds),
  );
  const kept = rewards.filter(({ released_at }) => released_at === null);
  const group = (keyOf: (reward: RewardRow) => string, of: RewardRow[]) => {
    const groups = new Map<string, RewardRow[]>();
    for (const reward of of) groups.set(keyOf(reward), [...(groups.get(keyOf(reward)) ?? []), reward]);
    return groups;
  };
  // A recovery counts whatever the chain has paid, also what was beyond a limit for a reason that is lost.
  const isBeyond = (list: RewardRow[], max: number) =>
    list.slice(max).some(({ id }) => !recovered.rewards.has(id));
  const claims = group(({ brand_id, event_type, user_key }) => `${brand_id} ${event_type} ${user_key}`, kept);
  const totals = group(({ brand_id, event_type }) => `${brand_id} ${event_type}`, kept);
  const ruleOf = (list: RewardRow[]) => RULES.find(({ eventType }) => eventType === list[0]?.event_type);

  for (const [key, list] of claims) {
    const rule = ruleOf(list);
    if (!rule) continue;
    const counted = list.filter((reward) => !isTrusted(reward));
    if (rule.maxClaims >= 0 && isBeyond(counted, rule.maxClaims))
      findings.add('claims within their limits', `${key}: ${counted.length} of ${rule.maxClaims}`);
    for (const [place, reward] of list.entries()) {
      const before = list[place - 1];
      // Of a recovered one, its block's time is known.
      if (!before || recovered.rewards.has(reward.id)) continue;
      const free = isTrusted(reward) || skipping.has(reward.id);
      const waitMs = Math.max(DUPLICATE_WINDOW_MS, free ? 0 : rule.cooldownMs);
      const beforeMs = recovered.rewards.has(before.id) ? before.created_at : before.granted_at;
      const apartMs = reward.granted_at - beforeMs;
      if (apartMs < waitMs) findings.add('cooldown between claims', `${key}: ${apartMs} of ${waitMs} ms`);
    }
  }
  for (const [key, list] of totals) {
    const max = ruleOf(list)?.maxTotalClaims ?? -1;
    if (max >= 0 && isBeyond(list, max))
      findings.add('claims within their limits', `${key}: ${list.length} of ${max}`);
  }

  const counters = await ledger.rows<{ key: string; claims: number }>(
    `select brand_id || ' ' || event_type || ' ' || user_key as key, claims from claim_counters
     union all select brand_id || ' ' || event_type, claims from claim_totals`,
  );
  for (const { key, claims: counted } of counters) {
    const real = (claims.get(key) ?? totals.get(key) ?? []).length;
    if (counted !== real) findings.add('claims are counted right', `${key}: ${counted}, rewards ${real}`);
  }
}

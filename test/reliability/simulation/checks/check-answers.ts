/** Judges what callers were told. */
import { parseTransaction } from 'viem';
import type { World } from '../world.ts';
import { type Evidence, sequencesIn } from './checks.ts';

export function checkAnswers({ findings, requests, lost }: World, { rewards, attempts }: Evidence): void {
  const byId = new Map(rewards.map((reward) => [reward.id, reward]));
  const lostIds = new Map(lost.rewards.map((reward) => [reward.id, reward]));
  const byHash = new Map(attempts.map((attempt) => [attempt.hash, attempt]));
  const keys = new Map<string, { rewards: Set<string>; bodies: Set<string> }>();
  // A try that stood still for longer than a key stays taken may be granted after a later one was refused.
  const stalled = new Set(requests.flatMap(({ slow, key }) => (slow && key !== undefined ? [key] : [])));
  const lastOf = new Map(requests.map((request) => [request.key, request]));
  for (const request of requests) {
    const { status, paid, rewardIds, key, body, submission } = request;
    const about = `${submission.userKey} ${submission.eventType}${key ? ` under ${key}` : ''}`;
    if (paid && !lost.hashes.has(paid.hash)) {
      // Whether that reward is then paid is checked for all rewards. One that was lost has another id, and its sequence.
      const attempt = byHash.get(paid.hash);
      const carried = attempt ? sequencesIn(parseTransaction(attempt.raw).data ?? '0x') : [];
      const carries = [byId.get(paid.eventId), lostIds.get(paid.eventId)].some(
        (reward) => reward && carried.includes(reward.sequence),
      );
      if (!carries) findings.add('no answer without its payout', `${about} was told of ${paid.eventId}`);
    }
    const granted = rewardIds.filter((id) => byId.has(id));
    // A refusal is not kept: a later try under the key may have the same id, and may well be granted.
    const refused =
      key === undefined
        ? status === 'refused' || status === 'failed'
        : status === 'refused' && !stalled.has(key) && lastOf.get(key) === request;
    if (refused && granted.length > 0)
      findings.add('no refusal with a payout', `${about} was refused and rewarded`);
    if (key === undefined) continue;
    const known = keys.get(key) ?? { rewards: new Set(), bodies: new Set() };
    keys.set(key, known);
    // A reward that gave its claim back may be followed by another under the same key.
    for (const id of granted) if (byId.get(id)?.released_at === null) known.rewards.add(id);
    if (body !== undefined && status === 'paid') known.bodies.add(body);
  }
  for (const [key, known] of keys) {
    if (known.rewards.size > 1) findings.add('one reward a key', `${key} has ${known.rewards.size}`);
    if (known.bodies.size > 1) findings.add('one answer a key', `${key}: ${[...known.bodies].join(' and ')}`);
  }
}

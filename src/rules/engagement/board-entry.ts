/** How users and their scores are written on a leaderboard. */
import { addressKey } from '../user-key.ts';
import type { BoardMetric } from './rank-tree.ts';

const units: Record<BoardMetric, readonly [one: string, many: string]> = {
  rwt_earned: ['RWT', 'RWT'],
  activity: ['activity', 'activities'],
  streak: ['day', 'days'],
  claims: ['claim', 'claims'],
};

/** A score with its unit: `1,250 RWT`, `1 day`. */
export function formattedScore(metric: BoardMetric, score: number): string {
  const [one, many] = units[metric];
  return `${score.toLocaleString('en-US')} ${score === 1 ? one : many}`;
}

/** What a user is called who gave no name: the e-mail before its @, or the ends of an address. */
export function nameOfUser(userKey: string): string {
  return addressKey(userKey)
    ? `${userKey.slice(0, 6)}…${userKey.slice(-4)}`
    : userKey.slice(0, userKey.lastIndexOf('@'));
}

/** A user's key as strangers may see it: an e-mail without all but its first letter; an address is on chain anyway. */
export function maskedUser(userKey: string): string {
  const at = userKey.lastIndexOf('@');
  return at < 1 ? userKey : `${[...userKey.slice(0, at)][0] ?? ''}***${userKey.slice(at)}`;
}

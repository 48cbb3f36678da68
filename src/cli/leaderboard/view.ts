/** A leaderboard for people: a line for each user, and the place of the one who was asked for. */
import type { LeaderboardBody, RefusalBody } from '../../client/bodies.ts';
import type { Style } from '../terminal/style.ts';

export function leaderboardText(
  body: LeaderboardBody | RefusalBody,
  user: string | undefined,
  style: Style,
): string {
  if (!('leaderboard' in body)) return '';
  const { leaderboard, userEntry, total, metric, period, platform } = body;
  const where = platform === null ? 'all platforms' : platform;
  const head = style.dim(`${metric}, ${period}, ${where}: ${total === 1 ? '1 user' : `${total} users`}`);
  const line = ({
    rank,
    displayName,
    userIdentifier,
    formattedValue,
    change,
  }: (typeof leaderboard)[number]) =>
    [
      style.bold(String(rank).padStart(6)),
      formattedValue.padStart(16),
      gained(change).padStart(4),
      displayName === userIdentifier ? displayName : `${displayName}  ${style.dim(userIdentifier)}`,
    ].join('  ');
  const own =
    user === undefined ? [] : ['', userEntry === null ? `${user} is not on this board` : line(userEntry)];
  return [head, ...leaderboard.map(line), ...own].join('\n');
}

const gained = (change: number) => (change > 0 ? `+${change}` : change < 0 ? String(change) : '');

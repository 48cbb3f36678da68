/** `rewards leaderboard`. */

import type { LeaderboardBody, RefusalBody } from '../../client/bodies.ts';
import type { Handler } from '../machine/context.ts';
import { keyHeader } from '../machine/read-input.ts';
import { demandBrand } from '../service/named-brand.ts';
import { noteRequest, serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

interface LeaderboardWish {
  metric: string;
  period: string;
  platform?: string;
  limit: string;
  user?: string;
  brand?: string;
  apiKeyFile?: string;
}

export const showLeaderboard: Handler<LeaderboardWish> = async (context, wish) => {
  const target = await resolveTarget(context);
  const { brandId } = await demandBrand(context, target, wish.brand);
  const { metric, period, limit, platform, user: userIdentifier } = wish;
  const headers = await keyHeader(context.runtime, wish.apiKeyFile);
  const wanted = {
    metric,
    period,
    limit,
    ...(platform && { platform }),
    ...(userIdentifier && { userIdentifier }),
  };
  const reply = await clientFor(target, context).leaderboard({ brandId, ...wanted }, { headers });
  noteRequest(context, reply);
  return serviceResult(reply, { text: (style) => leaderboardText(reply.body, userIdentifier, style) });
};

function leaderboardText(
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

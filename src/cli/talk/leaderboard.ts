/** `rewards leaderboard`. */

import { leaderboardText } from '../leaderboard/view.ts';
import type { Handler } from '../machine/context.ts';
import { keyHeader } from '../machine/read-input.ts';
import { demandBrand } from '../service/named-brand.ts';
import { noteRequest, serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';

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

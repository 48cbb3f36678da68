/** `rewards leaderboard`. */
import type { Handler } from '../machine/context.ts';
import { readApiKey } from '../machine/read-input.ts';
import { demandBrand } from '../service/named-brand.ts';
import { serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import { leaderboardText } from './view.ts';

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
  const { runtime, about } = context;
  const target = await resolveTarget(context);
  const { brandId } = await demandBrand(context, target, wish.brand);
  const { metric, period, limit, platform, user: userIdentifier } = wish;
  const apiKey = await readApiKey(runtime, wish.apiKeyFile);
  const headers: Record<string, string> = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
  const wanted = {
    metric,
    period,
    limit,
    ...(platform && { platform }),
    ...(userIdentifier && { userIdentifier }),
  };
  const reply = await clientFor(target, context).leaderboard({ brandId, ...wanted }, { headers });
  const requestId = reply.headers['x-request-id'];
  if (requestId) about.requestId = requestId;
  return serviceResult(reply, { text: (style) => leaderboardText(reply.body, userIdentifier, style) });
};

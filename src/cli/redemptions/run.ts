/** `rewards redemptions list|drop`. */
import type { Handler } from '../machine/context.ts';
import { withPerks } from '../perks/target.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import type { LedgerOptions } from '../start/options.ts';
import { redemptionLine } from './view.ts';

interface ListOptions extends LedgerOptions {
  brand?: string;
  waiting?: boolean;
  limit?: number;
}

export const listRedemptions: Handler<ListOptions> = (context, { brand, waiting, limit, ...options }) =>
  withPerks(context, options, async (perks) =>
    replyResult(await perks.redemptions({ brand, waiting: waiting ? 'true' : undefined, limit }), {
      hasRightForm: (body) => isObject(body) && Array.isArray(body.redemptions),
      text: ({ redemptions }, style) =>
        redemptions.length === 0
          ? style.dim(waiting ? 'no redemption waits' : 'nothing redeemed yet: rewards perks redeem')
          : redemptions.map((one) => redemptionLine(one, style)).join('\n'),
    }),
  );

export const dropRedemption: Handler<LedgerOptions & { id: string }> = (context, { id, ...options }) =>
  withPerks(context, options, async (perks) =>
    replyResult(await perks.dropRedemption(id), {
      hasRightForm: (body) => isObject(body) && typeof body.confirmationCode === 'string',
      text: redemptionLine,
    }),
  );

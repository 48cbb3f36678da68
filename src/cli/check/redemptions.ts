/** `rewards redemptions list|drop`. */
import * as perks from '../../contract/control/perks.ts';
import type { Handler } from '../machine/context.ts';
import type { LedgerOptions } from '../machine/setting-options.ts';
import { redemptionLine } from '../redemptions/view.ts';
import { withControl } from '../service/control.ts';
import { replyResult } from '../service/control-reply.ts';

interface ListOptions extends LedgerOptions {
  brand?: string;
  waiting?: boolean;
  limit?: number;
}

export const listRedemptions: Handler<ListOptions> = (context, { brand, waiting, limit, ...options }) =>
  withControl(context, options, async ({ call }) =>
    replyResult(
      await call(perks.listRedemptions, { query: { brand, waiting: waiting ? 'true' : undefined, limit } }),
      {
        text: ({ redemptions }, style) =>
          redemptions.length === 0
            ? style.dim(waiting ? 'no redemption waits' : 'nothing redeemed yet: rewards perks redeem')
            : redemptions.map((one) => redemptionLine(one, style)).join('\n'),
      },
    ),
  );

export const dropRedemption: Handler<LedgerOptions & { id: string }> = (context, { id, ...options }) =>
  withControl(context, options, async ({ call }) =>
    replyResult(await call(perks.dropRedemption, { path: { id } }), {
      text: redemptionLine,
    }),
  );

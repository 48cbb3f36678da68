/** `rewards redemptions list|drop`. */

import type { Redemption } from '../../contract/control/perks.ts';
import * as perks from '../../contract/control/perks.ts';
import { asks } from '../service/control.ts';
import type { Style } from '../terminal/style.ts';

export const listRedemptions = asks(perks.listRedemptions, {
  request: ({ brand, waiting, limit }: { brand?: string; waiting?: boolean; limit?: number }) => ({
    query: { brand, waiting: waiting ? ('true' as const) : undefined, limit },
  }),
  text: ({ redemptions }, style, { waiting }) =>
    redemptions.length === 0
      ? style.dim(waiting ? 'no redemption waits' : 'nothing redeemed yet: rewards perks redeem')
      : redemptions.map((one) => redemptionLine(one, style)).join('\n'),
});

export const dropRedemption = asks(perks.dropRedemption, {
  request: ({ id }: { id: string }) => ({ path: { id } }),
  text: redemptionLine,
});

/** `7KQ2-M9XT-4HVC  valid  Ten percent off  alice@demo.example  250 RWT  2026-11-22T17:03:49.000Z  0x5f…`. */
function redemptionLine(body: Redemption, style: Style): string {
  const { confirmationCode, perkName, perkId, user, cost } = body;
  return [
    confirmationCode,
    stateText(body, style),
    style.bold(perkName ?? perkId),
    user,
    `${cost} RWT`,
    body.createdAt,
    style.dim(body.transactionHash ?? `no transaction yet: ${body.id}`),
  ].join('  ');
}

function stateText({ state, usedAt, failure, refusals, refusal }: Redemption, style: Style): string {
  if (state === 'valid') return style.green(state);
  if (state === 'used') return style.yellow(`used ${usedAt}`);
  if (state === 'failed') return style.red(`failed: ${failure ?? 'reverted'}`);
  return style.yellow(refusals > 0 ? `refused ${refusals} times: ${refusal}` : state);
}

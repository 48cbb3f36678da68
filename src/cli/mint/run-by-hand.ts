/** `rewards mint --to`: RWT that an operator creates for an account. */
import * as mints from '../../contract/control/mints.ts';
import type { Handler } from '../machine/context.ts';
import type { LedgerOptions } from '../machine/setting-options.ts';
import { withControl } from '../service/control.ts';
import { replyResult } from '../service/control-reply.ts';
import { mintText } from '../setup/mint-view.ts';

export interface HandMintOptions extends LedgerOptions {
  to: string;
  amount: string;
  reason?: string;
}

export const mintByHand: Handler<HandMintOptions> = (context, { to, amount, reason, ...options }) =>
  withControl(context, options, async ({ call }) => {
    const reply = await call(mints.mintByHand, { body: { to, amount, reason } });
    return replyResult(reply, { text: mintText });
  });

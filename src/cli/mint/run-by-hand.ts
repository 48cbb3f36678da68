/** `rewards mint --to`: RWT that an operator creates for an account. */
import type { Handler } from '../machine/context.ts';
import { isObject } from '../service/assignments.ts';
import { withControl } from '../service/control.ts';
import { replyResult } from '../service/control-reply.ts';
import type { LedgerOptions } from '../start/options.ts';
import { mintText } from './view.ts';

export interface HandMintOptions extends LedgerOptions {
  to: string;
  amount: string;
  reason?: string;
}

export const mintByHand: Handler<HandMintOptions> = (context, { to, amount, reason, ...options }) =>
  withControl(context, options, {
    ofLedger: (ledger) => ledger.mints(),
    async work({ control }) {
      const reply = await control.mint({ to, amount, ...(reason !== undefined && { reason }) });
      return replyResult(reply, {
        hasRightForm: (body) => isObject(body) && typeof body.state === 'string',
        text: mintText,
      });
    },
  });

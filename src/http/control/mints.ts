/** RWT that an operator mints to an account, over the control API: `POST mints`. */
import type { Handler } from 'hono';
import { type MintByHandDeps, mintByHand } from '../../actions/payments/mint-by-hand.ts';
import { checksummed } from '../../identity/checksum.ts';
import { readHandMint } from './mint-wish.ts';
import { readSettings, refuse } from './refuse.ts';

export function controlMints(deps: MintByHandDeps): Record<string, Handler> {
  return {
    async mintByHand(context) {
      const settings = await readSettings(context);
      if (!settings) return refuse(context, { code: 'invalid_body' });
      const wish = readHandMint(settings, { reasonNeeded: !deps.mints });
      const minted = 'problems' in wish ? wish : await mintByHand(deps, wish);
      if ('problems' in minted) {
        return refuse(context, { code: 'invalid_settings', problems: minted.problems });
      }
      const { key, recipient, amount, reason, state, failure, hash, transaction } = minted;
      return context.json(
        {
          ...{ key, to: checksummed(recipient), amount, reason, state, failure },
          ...{ transactionHash: hash, transaction },
        },
        201,
      );
    },
  };
}

/** RWT that an operator mints to an account, over the control API: `POST mints`. */
import type { Handler } from 'hono';
import { type MintByHandDeps, mintByHand } from '../../actions/payments/mint-by-hand.ts';
import { checksummed } from '../../identity/checksum.ts';
import { isMinted, readMint } from '../../ledger/payments/mints.ts';
import { readHandMint } from './mint-wish.ts';
import { readSettings, refuse } from './refuse.ts';

/** How far the mint of a checkout has come: `GET mints/{session}`. */
export function controlSessionMints({ database }: Pick<MintByHandDeps, 'database'>): Record<string, Handler> {
  return {
    async mintOfSession(context) {
      const sessionId = context.req.param('session') ?? '';
      const found = await readMint(database.db, sessionId);
      const state = found ? (isMinted(found) ? 'minted' : found.failure ? 'given_up' : 'waiting') : 'none';
      const { failure = null, hash = null } = found ?? {};
      return context.json({ sessionId, state, failure, transactionHash: hash });
    },
  };
}

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

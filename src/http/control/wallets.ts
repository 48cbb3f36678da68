/** Wallets over the control API: `GET wallets/:user`. */
import { Hono } from 'hono';
import { showWallet } from '../../actions/wallets/show-wallet.ts';
import type { Database } from '../../ledger/database/database.ts';
import { controlProblem } from './problem.ts';

export interface ControlWalletsDeps {
  database: Database;
  /** Host under which users of chat platforms have their stand-in e-mail. */
  ownDomain: string;
}

export function controlWallets(deps: ControlWalletsDeps): Hono {
  const app = new Hono();
  app.get('/:user', async (context) => {
    const user = context.req.param('user');
    const found = await showWallet(deps, user);
    if (!found) {
      return controlProblem(context, 404, {
        error: `No wallet of ${user}`,
        message:
          'Name an e-mail, an address or <platform>:<id>; a wallet comes with the first reward or login.',
        details: { reason: 'wallet_not_found' },
      });
    }
    const { wallet, identities } = found;
    return context.json({
      user: wallet.userKey,
      address: wallet.address,
      index: wallet.derivationIndex,
      createdAt: instant(wallet.createdAt),
      identities: identities.map(({ provider, providerUserId, username, idpUserId, createdAt }) => ({
        ...{ provider, providerUserId, username, idpUserId },
        createdAt: instant(createdAt),
      })),
    });
  });
  return app;
}

const instant = (ms: number) => new Date(ms).toISOString();

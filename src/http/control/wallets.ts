/** Wallets over the control API: `GET wallets/:user`. */
import type { Handler } from 'hono';
import { showWallet } from '../../actions/wallets/show-wallet.ts';
import { checksummed } from '../../identity/checksum.ts';
import type { Database } from '../../ledger/database/database.ts';
import { refuse } from './refuse.ts';

export interface ControlWalletsDeps {
  database: Database;
  /** Domain under which users of chat platforms have their stand-in e-mail. */
  ownDomain: string;
}

export function controlWallets(deps: ControlWalletsDeps): Record<string, Handler> {
  return {
    async showWallet(context) {
      const user = context.req.param('user') ?? '';
      const found = await showWallet(deps, user);
      if (!found) return refuse(context, { code: 'wallet_not_found', user });
      const { wallet, identities } = found;
      return context.json({
        user: wallet.userKey,
        address: checksummed(wallet.address),
        index: wallet.derivationIndex,
        createdAt: instant(wallet.createdAt),
        identities: identities.map(({ provider, providerUserId, username, idpUserId, createdAt }) => ({
          ...{ provider, providerUserId, username, idpUserId },
          createdAt: instant(createdAt),
        })),
      });
    },
  };
}

const instant = (ms: number) => new Date(ms).toISOString();

/** Tells which wallet a user has and under which identities they were registered; for the control API. */
import type { Database } from '../../ledger/database/database.ts';
import { type Identity, identitiesOf } from '../../ledger/wallets/identities.ts';
import { findWalletAt, findWallets, type Wallet } from '../../ledger/wallets/wallets.ts';
import { readRegistration } from '../../rules/registration.ts';
import { addressKey, emailKey } from '../../rules/user-key.ts';

export interface WalletDetail {
  wallet: Wallet;
  identities: Identity[];
}

/** How a user may be named: an e-mail, an address, or `<platform>:<id there>`. */
export async function showWallet(
  { database, ownDomain }: { database: Database; ownDomain: string },
  name: string,
): Promise<WalletDetail | undefined> {
  const { db } = database;
  const address = addressKey(name);
  const userKey = address ?? userKeyOf(name, ownDomain);
  if (userKey === undefined) return undefined;
  const wallet = address ? await findWalletAt(db, address) : (await findWallets(db, [userKey])).get(userKey);
  return wallet && { wallet, identities: await identitiesOf(db, wallet.userKey) };
}

function userKeyOf(name: string, ownDomain: string): string | undefined {
  const [, provider, id] = /^([^:@]+):(.+)$/.exec(name) ?? [];
  if (provider === undefined) return emailKey(name);
  // Read like a registration, so that both accept the same platforms and ids.
  const fields = {
    brand_id: `0x${'0'.repeat(40)}`,
    oauth_provider: provider,
    oauth_user_id: id,
  };
  const read = readRegistration(fields, { ownDomain });
  return 'registration' in read ? read.registration.userKey : undefined;
}

/** Keeps rewards off the service's own accounts and contracts: nobody could use them there, and some could not be paid. */
import type { Queries } from '../../ledger/database/database.ts';
import { ownAccountsAmong } from '../../ledger/transactions/lanes.ts';
import { findWallets, type Wallet } from '../../ledger/wallets/wallets.ts';

/** A user as a reward names them. */
interface Payee {
  userKey: string;
  /** Set when the user is named by an address of their own. */
  userAddress: `0x${string}` | undefined;
}

/** The wallets that these users have already; those who are named by an address of their own need none. */
export function walletsOfPayees(tx: Queries, users: Payee[]): Promise<Map<string, Wallet>> {
  const userKeys = new Set<string>();
  for (const { userAddress, userKey } of users) if (!userAddress) userKeys.add(userKey);
  return findWallets(tx, [...userKeys]);
}

/** Those of the users whose rewards would go to the service itself. `ownAddresses` are in lower case. */
export async function paidToOurselves<User extends Payee>(
  tx: Queries,
  of: { users: User[]; wallets: ReadonlyMap<string, Wallet>; ownAddresses: ReadonlySet<string> },
): Promise<Set<User>> {
  const { users, wallets, ownAddresses } = of;
  const recipientOf = ({ userAddress, userKey }: User) =>
    (userAddress ?? wallets.get(userKey)?.address)?.toLowerCase();
  // Wallets of users grow from a key of their own, so only addresses that callers name can be one of the ledger's.
  const named = users.flatMap(({ userAddress }) => userAddress?.toLowerCase() ?? []);
  const inLedger = await ownAccountsAmong(tx, [...new Set(named)]);
  return new Set(
    users.filter((user) => {
      const recipient = recipientOf(user);
      return recipient !== undefined && (ownAddresses.has(recipient) || inLedger.has(recipient));
    }),
  );
}

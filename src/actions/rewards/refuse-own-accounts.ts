/** Keeps rewards off the service's own accounts and contracts: nobody could use them there, and some could not be paid. */
import type { Queries } from '../../ledger/database/database.ts';
import { ownAccountsAmong } from '../../ledger/transactions/own-accounts.ts';
import { findWallets } from '../../ledger/wallets/wallets.ts';

/** A user as a reward names them. */
interface Payee {
  userKey: string;
  /** Set when the user is named by an address of their own. */
  userAddress: `0x${string}` | undefined;
}

/** Those of the users whose rewards would go to the service itself. `ownAddresses` are in lower case. */
export async function paidToOurselves<User extends Payee>(
  tx: Queries,
  of: { users: User[]; ownAddresses: ReadonlySet<string> },
): Promise<Set<User>> {
  const { users, ownAddresses } = of;
  const withoutAddress = users.filter(({ userAddress }) => !userAddress);
  const wallets = await findWallets(tx, [...new Set(withoutAddress.map(({ userKey }) => userKey))]);
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

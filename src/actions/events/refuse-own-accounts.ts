/** Keeps rewards off the service's own accounts and contracts: nobody could use them there, and some could not be paid. */
import type { Queries } from '../../ledger/database/database.ts';
import { ownAccountsAmong } from '../../ledger/transactions/own-accounts.ts';
import { findWallets } from '../../ledger/wallets/wallets.ts';
import type { EventSubmission } from '../../rules/events/submission.ts';

/** The submissions among these whose reward would go to the service itself. `ownAddresses` are in lower case. */
export async function paidToOurselves(
  tx: Queries,
  of: { submissions: EventSubmission[]; ownAddresses: ReadonlySet<string> },
): Promise<Set<EventSubmission>> {
  const { submissions, ownAddresses } = of;
  const users = submissions.filter(({ userAddress }) => !userAddress);
  const wallets = await findWallets(tx, [...new Set(users.map(({ userKey }) => userKey))]);
  const recipientOf = ({ userAddress, userKey }: EventSubmission) =>
    (userAddress ?? wallets.get(userKey)?.address)?.toLowerCase();
  // Wallets of users grow from a key of their own, so only addresses that callers name can be one of the ledger's.
  const named = submissions.flatMap(({ userAddress }) => userAddress?.toLowerCase() ?? []);
  const inLedger = await ownAccountsAmong(tx, [...new Set(named)]);
  return new Set(
    submissions.filter((submission) => {
      const recipient = recipientOf(submission);
      return recipient !== undefined && (ownAddresses.has(recipient) || inLedger.has(recipient));
    }),
  );
}

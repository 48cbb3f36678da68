/** Learns from events of a brand's own servers which number and which e-mail are one person (`domainUsers`). */
import type { StoredBrand } from '../../ledger/brands/brands.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { lockAvailableFunds } from '../../ledger/rewards/funds.ts';
import { keysOfUsers } from '../../ledger/wallets/aliases.ts';
import { numberedUser } from '../../rules/events/domain-users.ts';
import type { EventSubmission } from '../../rules/events/submission.ts';
import { linkUsers } from '../brands/alias-users.ts';

interface Learned {
  brand: StoredBrand;
  submission: EventSubmission;
}

/**
 * Links the users of these events, in the caller's commit and before it decides. It asks nothing for events that do not say
 * both, or that came without the brand's key: strangers could name anybody's number beside an e-mail of theirs.
 */
export async function learnAliases(
  tx: Queries,
  of: { events: readonly Learned[]; ownDomain: string | undefined; nowMs: number },
): Promise<void> {
  const { events, ownDomain, nowMs } = of;
  const said = events.flatMap(({ brand, submission }) => {
    const aliasKey = numberedUser(submission, brand.profile, ownDomain);
    return aliasKey === undefined ? [] : [{ brand, aliasKey, user: submission.userKey }];
  });
  if (said.length === 0) return;
  const asked = said.map(({ brand, aliasKey }) => ({ brandId: brand.brandId, userKey: aliasKey }));
  const keysOf = await keysOfUsers(tx, asked);
  const fresh = said.filter(({ brand, aliasKey }) => {
    const [owner] = keysOf({ brandId: brand.brandId, userKey: aliasKey });
    return owner === aliasKey;
  });
  if (fresh.length === 0) return;
  // All of the round, in the order of everybody who pays, before the first is changed.
  await lockAvailableFunds(tx, [...new Set(events.map(({ brand }) => brand.brandId))]);
  for (const { brand, aliasKey: alias, user } of fresh) {
    const linked = await linkUsers(tx, { brandId: brand.brandId, alias, user, nowMs });
    // What is not to be linked is left as it is: the event says by its e-mail who is paid.
    if ('isNew' in linked && linked.isNew) brand.aliases = (brand.aliases ?? 0) + 1;
  }
}

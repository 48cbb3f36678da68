/** The one user whom a request means, whichever of the brand's names for them it used. */
import type { Queries } from '../../ledger/database/database.ts';
import { keysOfUsers } from '../../ledger/wallets/aliases.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

/** What a request says of its user. An account that is named by its own address has no aliases: its RWT are its own. */
export interface AskedUser {
  brandId: BrandId;
  userKey: string;
  userAddress?: `0x${string}` | undefined;
}

/** The same with the user's own key in place of an alias. */
export async function asOneUser<Asked extends AskedUser>(db: Queries, asked: Asked): Promise<Asked> {
  if (asked.userAddress !== undefined) return asked;
  const [userKey] = (await keysOfUsers(db, [asked]))(asked);
  return userKey === asked.userKey ? asked : { ...asked, userKey };
}

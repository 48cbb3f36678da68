/** How a buyer stands in a brand's chats, whoever the buyer is known as. */
import { addressSpellings } from '../../chain/contracts/calls/address-spellings.ts';
import type { ChatMembership, ChatProvider } from '../../constraints/chat-provider.ts';
import type { Database } from '../../ledger/database/database.ts';
import { userKeysAt } from '../../ledger/wallets/wallets.ts';
import { rootMessage } from '../../lib/failures/root-cause.ts';
import type { Log } from '../../lib/log.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

export interface MembershipDeps {
  database: Database;
  /** Absent where the service knows no chat. */
  chat?: ChatProvider | undefined;
  log: Log;
}

/** Undefined when nobody can tell. A buyer of whom only the wallet is known is every user who has it. */
export async function readMemberships(
  { database, chat, log }: MembershipDeps,
  { brandId, address, userKey }: { brandId: BrandId; address: `0x${string}`; userKey?: string | undefined },
): Promise<readonly ChatMembership[] | undefined> {
  if (!chat) return undefined;
  const userKeys =
    userKey === undefined ? await userKeysAt(database.db, addressSpellings(address)) : [userKey];
  try {
    return await chat.standingsOf({ brandId, address, userKeys });
  } catch (error) {
    log.warn({ brandId, error: rootMessage(error) }, 'the chat provider gave no answer');
    return undefined;
  }
}

/** Compares standings: two texts are equal when levels and roles are the same on every platform, in whatever order they came. */
export function membershipText(standings: readonly ChatMembership[] | undefined): string {
  if (!standings) return 'unknown';
  const sorted = standings.map(({ platform, level, roles }) => [platform, level, [...roles].sort()] as const);
  return JSON.stringify(sorted.sort(([one], [other]) => (one < other ? -1 : 1)));
}

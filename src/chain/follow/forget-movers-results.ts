/** What brands' servers said about a user is asked again once the user's RWT have moved (contract: automatic invalidation). */
import { decodeEventLog, type Hex } from 'viem';
import { invalidateEverybody, invalidateUsers } from '../../ledger/constraints/results.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { rewardTokenAbi } from '../contracts/abis.ts';
import type { Log } from '../rpc/client.ts';
import type { BlockContents } from './read-block.ts';

/** Of a block whose transfers were too many to be read, everybody may have moved some. */
export async function forgetMoversResults(
  tx: Queries,
  { token, contents }: { token: Hex; contents: Pick<BlockContents, 'logs' | 'isWhole'> },
): Promise<void> {
  if (!contents.isWhole) return invalidateEverybody(tx);
  const movers = new Set<Hex>();
  for (const one of contents.logs) {
    if (one.address.toLowerCase() !== token.toLowerCase()) continue;
    for (const account of transferred(one)) movers.add(account.toLowerCase() as Hex);
  }
  await invalidateUsers(tx, [...movers].sort());
}

function transferred({ topics, data }: Log): Hex[] {
  try {
    const log = { topics: topics as [Hex, ...Hex[]], data };
    const event = decodeEventLog({ abi: rewardTokenAbi, ...log });
    return event.eventName === 'Transfer' ? [event.args.from, event.args.to] : [];
  } catch {
    // What the token's ABI does not know moves nothing.
    return [];
  }
}

/** What brands' servers said about a user is asked again once the user's RWT have moved (contract: automatic invalidation). */
import { encodeEventTopics, type Hex } from 'viem';
import { areThereResults, invalidateEverybody, invalidateUsers } from '../../ledger/constraint-results.ts';
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
  if (!(await areThereResults(tx))) return;
  const movers = new Set<Hex>();
  const movedToken = token.toLowerCase();
  for (const one of contents.logs) {
    if (one.address.toLowerCase() !== movedToken) continue;
    for (const account of transferred(one)) movers.add(account.toLowerCase() as Hex);
  }
  await invalidateUsers(tx, [...movers].sort());
}

const [TRANSFER] = encodeEventTopics({ abi: rewardTokenAbi, eventName: 'Transfer' });

/** Who gave and who got; accounts are the last 20 bytes of a topic. Read in place: a block has a transfer for each reward. */
function transferred({ topics: [event, ...accounts] }: Log): Hex[] {
  return event === TRANSFER ? accounts.map((topic) => `0x${topic.slice(-40)}` as const) : [];
}

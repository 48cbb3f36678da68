/** Settles the mints that others have made in one block: with the mint key by hand, or by a process that is gone. */
import { decodeEventLog, encodeEventTopics, type Hex } from 'viem';
import type { Queries } from '../../ledger/database/database.ts';
import { noteMintedByOthers } from '../../ledger/payments/mints-of-others.ts';
import { pointsSaleAbi } from '../contracts/abis.ts';
import type { Log as ChainLog } from '../rpc/client.ts';
import type { BlockContents } from './read-block.ts';
import type { FollowDeps } from './types.ts';

/** The events that say that a key is used, by first topic. */
const saleTopics: ReadonlySet<Hex | undefined> = new Set(
  (['Minted', 'MintedIntoEscrow', 'AlreadyMinted'] as const).map(
    (eventName) => encodeEventTopics({ abi: pointsSaleAbi, eventName })[0],
  ),
);

/** `ours`: hashes of our own transactions in the block, whose outcome settles their mints. */
export async function bookSaleLogs(
  tx: Queries,
  of: Pick<BlockContents, 'block' | 'logs'> & {
    settings: Pick<FollowDeps['settings'], 'pointsSale'>;
    ours: ReadonlySet<Hex>;
  },
): Promise<void> {
  const sale = of.settings.pointsSale.toLowerCase();
  const shown = of.logs.flatMap((log) => {
    if (!saleTopics.has(log.topics[0]) || log.address.toLowerCase() !== sale) return [];
    const key = of.ours.has(log.transactionHash) ? undefined : keyOf(log);
    return key ? [{ key, hash: log.transactionHash, block: of.block.number }] : [];
  });
  if (shown.length > 0) await noteMintedByOthers(tx, shown);
}

function keyOf({ topics, data }: ChainLog): Hex | undefined {
  try {
    const event = decodeEventLog({ abi: pointsSaleAbi, topics: topics as [Hex, ...Hex[]], data });
    return 'key' in event.args ? event.args.key : undefined;
  } catch {
    return undefined;
  }
}

/** Finds, at a start, mints that wait although the sale has used their key in a block that was read long ago. */
import type { Hex } from 'viem';
import type { Database } from '../../ledger/database/database.ts';
import { waitingMintKeys } from '../../ledger/payments/mint-queue.ts';
import { noteMintedByOthers } from '../../ledger/payments/mints.ts';
import { newestFollowed } from '../../ledger/transactions/backlog.ts';
import type { Log } from '../../lib/log.ts';
import { pointsSaleAbi } from '../contracts/abis.ts';
import { readContract } from '../contracts/read-contract.ts';
import { isRpcError, type Rpc } from '../rpc/rpc.ts';

/** Of each kind; far more than ever wait, and a second or two of questions. */
const KEYS_MAX = 1_000;

/** Asks nothing while no mint waits. What blocks show from here on, the follower sees. */
export async function findEarlierMints({
  database,
  rpc,
  pointsSale,
  log,
}: {
  database: Database;
  rpc: Rpc;
  pointsSale: Hex;
  log: Pick<Log, 'warn'>;
}): Promise<void> {
  const keys = await waitingMintKeys(database.db, KEYS_MAX);
  const block = await newestFollowed(database.db);
  if (keys.length === 0 || block === undefined) return;
  const isMinted = (key: Hex) =>
    readContract(
      rpc,
      { address: pointsSale, abi: pointsSaleAbi, functionName: 'isMinted', args: [key] },
      block,
    );
  const answers = await Promise.all(keys.map(isMinted)).catch((error: unknown) => {
    if (!isRpcError(error)) throw error;
    // They wait on, and are minted once, whichever process sends them.
    log.warn({ mints: keys.length }, 'no node says which of the mints that wait are made already');
    return [];
  });
  const shown = keys.flatMap((key, place) => (answers[place] ? [{ key, hash: null, block }] : []));
  await database.atomically((tx) => noteMintedByOthers(tx, shown));
}

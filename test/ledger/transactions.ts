/** Transactions as a lane stores them and the follower finds them in blocks, for tests of what hangs on them. */
import type { Database, Queries } from '../../src/ledger/database/database.ts';
import type { LanePurpose } from '../../src/ledger/schema/transactions.ts';
import { markIncluded, storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { freshAddress, freshHash, freshKey } from '../kits/databases/databases.ts';

export const NOW_MS = 1_700_000_000_000;

/** What a block says of a transaction; prices in wei. */
interface Included {
  blockNumber?: number;
  gasUsed?: number;
  gasPriceWei?: bigint;
  l1FeeWei?: bigint;
}

/** Ways to write transactions into the ledger of one suite. */
export function transactionsOf(database: () => Database) {
  const atomically = <T>(work: (tx: Queries) => Promise<T>) => database().atomically(work);
  return {
    atomically,
    /** Of a lane of its own and a payout, unless said otherwise. */
    async store({ lane = freshAddress(), nonce = 0, purpose = 'payout' as LanePurpose } = {}) {
      const of = { id: freshKey('transaction'), lane, nonce, hash: freshHash() };
      const offer = { maxFeeWei: 1n, priorityFeeWei: 1n, createdAt: NOW_MS };
      await atomically((tx) => storeTransaction(tx, { ...of, ...offer, purpose, epoch: 1, raw: of.hash }));
      return of;
    },
    include: (
      { id, hash }: { id: string; hash: Hex },
      { blockNumber = 7, gasUsed = 21_000, gasPriceWei = 7n, l1FeeWei }: Included = {},
    ) =>
      atomically((tx) =>
        markIncluded(tx, {
          id,
          hash,
          blockNumber,
          blockHash: freshHash(),
          outcome: 'done',
          gasUsed,
          gasPriceWei: String(gasPriceWei),
          l1FeeWei: l1FeeWei === undefined ? null : String(l1FeeWei),
        }),
      ),
  };
}

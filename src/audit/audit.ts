/** What the parts of a comparison of ledger and chain share. */
import type { Hex } from 'viem';
import type { ChainClient } from '../chain/rpc/client.ts';
import type { CountedByBoards } from '../ledger/consumers/positions.ts';
import type { Database, Queries } from '../ledger/database/database.ts';
import type { Since } from '../rules/since.ts';
import type { ChainHistory } from './chain-history.ts';
import type { Findings } from './report.ts';

export interface VerifyDeps {
  database: Database;
  history: ChainHistory;
  chain: Pick<ChainClient, 'block' | 'nonce'>;
  /** The first block that can hold anything of ours. */
  firstBlock: number;
  /** Waits in real time while the chain settles. */
  sleep: (ms: number) => Promise<void>;
  /** Lets requests, timers and leases have their turn; called after every few milliseconds of work. */
  breathe: () => Promise<void>;
}

/** How far a comparison is: `done` of `of` blocks, rewards, brands, counters or transactions. */
export interface VerifyProgress {
  part: 'blocks' | 'rewards' | 'brands' | 'counters' | 'transactions';
  done: number;
  /** Undefined until it has been counted. */
  of: number | undefined;
}

/** One comparison: what it reads, as of which block, what it adds up and finds. */
export interface Audit extends VerifyDeps {
  /** A snapshot of the ledger: everything that it reads is of one moment. */
  db: Queries;
  block: number;
  /** The first block that is read; above `firstBlock` when only a part is compared. */
  since: number;
  findings: Findings;
  /** RWT by brand, gathered by one part and compared by another. */
  sums: Record<'paid' | 'unreleased' | 'moved', Map<string, bigint>>;
  /** Rewards that still count, by event. */
  counted: Map<string, number>;
  /** Rewards that leaderboards have counted, by brand. */
  onBoards: Map<string, number>;
  /** How far leaderboards have counted. */
  boards: CountedByBoards;
  supply: {
    minted: bigint;
    sold: bigint;
    /** Minted past the sale, as operators have recorded. */
    recorded: bigint;
    /** The first transaction that minted past the sale without a record of it. */
    unexplained: Hex | undefined;
  };
  /** What the logs of the chain showed, so that it need not be asked for again. */
  seen: {
    /** Transactions whose logs say what the ledger says about their block, by lane. */
    inclusions: Map<string, number>;
    /** Keys under which the sale minted. */
    sales: Set<string>;
    /** Keys under which the escrow collected the price of a perk. */
    redemptions: Set<string>;
    /** Of each perk, by token: how many were sold since its stock was last set. */
    perksSold: Map<number, number>;
    /** The lowest sequence that was paid. */
    lowestSequence: number | undefined;
  };
  progress: (progress: VerifyProgress) => void;
  stopped: () => boolean;
}

/** Whether the comparison begins at the first block, so that sums over everything can be compared. */
export const isWhole = ({ since, firstBlock }: Pick<Audit, 'since' | 'firstBlock'>) => since <= firstBlock;

/** Adds to a sum by brand. */
export function addTo(sums: Map<string, bigint>, brandId: string, amount: bigint): void {
  const key = brandId.toLowerCase();
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}

const ROWS_PER_PAGE = 500;

/** Rows of the ledger page by page, with room for requests in between. */
export async function* pagesOf<Row>(
  audit: Audit,
  read: (db: Audit['db'], page: { after: string; limit: number }) => Promise<Row[]>,
  idOf: (row: Row) => string,
): AsyncGenerator<Row[]> {
  for (let after = ''; !audit.stopped(); ) {
    const page = await read(audit.db, { after, limit: ROWS_PER_PAGE });
    await audit.breathe();
    yield page;
    const last = page.at(-1);
    if (!last || page.length < ROWS_PER_PAGE) return;
    after = idOf(last);
  }
}

// A part of the history to compare: from a block or a time on, and what that leaves out.

/** The block to begin with; the first one that can hold anything of ours when `since` is undefined or earlier. */
export async function sinceBlock(
  deps: Pick<VerifyDeps, 'chain' | 'firstBlock'>,
  of: { since: Since | undefined; newest: number },
): Promise<number> {
  const { chain, firstBlock } = deps;
  const { since, newest } = of;
  if (since === undefined) return firstBlock;
  if ('block' in since) return Math.max(firstBlock, since.block);
  let earliest = firstBlock;
  let after = newest + 1;
  while (earliest < after) {
    const middle = Math.floor((earliest + after) / 2);
    const block = await chain.block(middle);
    if (block && block.timestampSeconds * 1_000 < since.timeMs) earliest = middle + 1;
    else after = middle;
  }
  return earliest;
}

/** What a comparison of a part leaves out, as phrases for people; empty for the whole. */
export function notCompared(audit: Audit): string[] {
  if (isWhole(audit)) return [];
  const { since, seen } = audit;
  const from = seen.lowestSequence;
  return [
    `payouts, deposits and withdrawals before block ${since}`,
    from === undefined ? 'rewards' : `rewards below sequence ${from}`,
    `transactions that were final before block ${since}`,
    "brands' balances and accounts",
    "the token's supply",
    'counters of claims',
    'leaderboards, achievements and milestones',
  ];
}

/**
 * Marks of how far the ledger was, in files beside the chain's checkpoints. A ledger that has less than its marks has lost
 * commits, for instance because somebody deleted its write-ahead log; nothing in the ledger itself could tell. One mark has the
 * number of the last commit, written before anybody is answered for it; the other says every second what there was to lose.
 */
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { nextSequence } from '../../ledger/audit-pages.ts';
import type { CountedCommits, Database } from '../../ledger/database/database.ts';
import { ledgerChainJournal } from '../../ledger/emulator/chain-journal.ts';
import type { Log } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';

/** How old the account of what was lost may be; how many commits were is known to the last. */
const MARK_EVERY_MS = 1_000;

interface Mark {
  /** Rewards that were granted, and blocks of the chain in the journal. */
  rewards: number;
  blocks: number;
}

const commitsIn = (dataDir: string) => join(dataDir, 'chain', 'ledger-commits');
/** One write of always the same length: a kill leaves it whole. */
const DIGITS = 16;

/** Keeps the number of the last commit, beside the ledger. */
export interface CommitMark extends CountedCommits {
  /** Commits that were answered and that the file did not have when it was opened. */
  lost(): number;
  /** Writes from now on. */
  keep(): void;
  close(): void;
}

/** Reads the mark; to be called before the ledger is opened. Nothing is written before `keep`. */
export function openCommitMark(dataDir: string): CommitMark {
  const path = commitsIn(dataDir);
  const marked = commitsMarked(path);
  let last = 0;
  let found = 0;
  let file: number | undefined;
  // Nothing waits until it is on the disk: after a power failure the mark is too low at worst.
  const write = () => {
    if (file !== undefined) writeSync(file, String(last).padStart(DIGITS, '0'), 0);
  };
  return {
    opened(commits) {
      last = commits;
      found = commits;
    },
    committed(commits) {
      last = commits;
      write();
    },
    lost: () => Math.max(0, (marked ?? found) - found),
    keep() {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      file = openSync(path, 'w', 0o600);
      write();
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function commitsMarked(path: string): number | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return /^\d{16}$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}

const fileIn = (dataDir: string) => join(dataDir, 'chain', 'ledger-mark.json');

async function readMark(database: Database): Promise<Mark> {
  const rewards = await nextSequence(database.db);
  return { rewards, blocks: (await ledgerChainJournal(database).lastBlock()) + 1 };
}

/** What a ledger has less than its mark says; undefined when it has lost nothing. */
export async function lostSinceMark(database: Database, dataDir: string): Promise<Mark | undefined> {
  const marked = await markIn(fileIn(dataDir));
  if (!marked) return undefined;
  const now = await readMark(database);
  const lost = {
    rewards: Math.max(0, marked.rewards - now.rewards),
    blocks: Math.max(0, marked.blocks - now.blocks),
  };
  return lost.rewards > 0 || lost.blocks > 0 ? lost : undefined;
}

/** Undefined without a mark, and for a file that is not one. */
async function markIn(file: string): Promise<Mark | undefined> {
  try {
    const { rewards, blocks } = JSON.parse(await readFile(file, 'utf8')) as Mark;
    return Number.isInteger(rewards) && Number.isInteger(blocks) ? { rewards, blocks } : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the mark again and again, until the returned function is called. */
export function keepLedgerMark(
  { database, log }: { database: Database; log: Log },
  dataDir: string,
): () => Promise<void> {
  let written = '';
  const file = fileIn(dataDir);
  // What is marked was committed before, so a kill at any moment leaves a mark that the ledger has reached.
  const mark = async () => {
    const text = `${JSON.stringify(await readMark(database))}\n`;
    if (text === written) return;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
    written = text;
  };
  const marking = createLoop({
    name: 'ledger mark',
    async turn() {
      await mark();
      return 'idle';
    },
    pauseMs: () => MARK_EVERY_MS,
    log,
  });
  marking.start();
  return () => marking.stop();
}

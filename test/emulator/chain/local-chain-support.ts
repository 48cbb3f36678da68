/** What the tests of the local chain share: a journal in SQLite, the chain with its clock, RPC. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Hex } from 'viem';
import { startLocalChain } from '../../../src/emulator/chain/local-chain.ts';
import type { ChainJournal, JournalBlock } from '../../../src/ledger/emulator/chain-journal.ts';
import { type AdjustableClock, adjustableClock } from '../../../src/lib/clock.ts';
import type { LogFields } from '../../../src/lib/log.ts';
import { until } from '../../kits/service/clock.ts';
import { aliveOf } from '../../kits/service/processes.ts';

export const ALICE = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
export const BOB = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const NOBODY = '0x000000000000000000000000000000000000dEaD';

export interface TestBlock {
  number: number;
  hash: Hex;
  timestamp: number;
  baseFeePerGas: Hex;
  transactions: Hex[];
}

export function rpcOf(url: string) {
  const call = async <T = unknown>(method: string, ...params: unknown[]): Promise<T> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const answer = (await response.json()) as { result: T; error?: { message: string } };
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  };
  const block = async (which: number | 'latest' = 'latest'): Promise<TestBlock> => {
    const tag = which === 'latest' ? which : `0x${which.toString(16)}`;
    const found = await call<Omit<TestBlock, 'number' | 'timestamp'> & { number: Hex; timestamp: Hex }>(
      'eth_getBlockByNumber',
      tag,
      false,
    );
    return { ...found, number: Number(found.number), timestamp: Number(found.timestamp) };
  };
  type Receipt = { status: Hex; blockNumber: Hex; blockHash: Hex; from: Hex };
  const receipt = async (hash: Hex) => {
    let found: Receipt | null = null;
    await until(`a receipt for ${hash}`, async () => {
      found = await call<Receipt | null>('eth_getTransactionReceipt', hash);
      return found !== null;
    });
    return found as unknown as Receipt;
  };
  const send = (transaction: Record<string, unknown> = {}) =>
    call<Hex>('eth_sendTransaction', { from: ALICE, to: NOBODY, value: '0x1', ...transaction });
  /** Sends and waits for the block. */
  const pay = async (transaction?: Record<string, unknown>) => {
    const hash = await send(transaction);
    return { hash, ...(await receipt(hash)) };
  };
  /** Everything that must be the same after a restart. */
  const picture = async () => {
    const head = await block();
    const blocks: TestBlock[] = [];
    for (let number = 0; number <= head.number; number += 1) blocks.push(await block(number));
    const receipts = await Promise.all(
      blocks.flatMap((one) => one.transactions).map((hash) => receipt(hash)),
    );
    const accounts = await Promise.all(
      [ALICE, BOB, NOBODY].map(async (address) => [
        await call('eth_getBalance', address, 'latest'),
        await call('eth_getTransactionCount', address, 'latest'),
      ]),
    );
    return { blocks, receipts, accounts };
  };
  return { call, block, receipt, send, pay, picture };
}

/** A journal as the ledger would keep it: one row an entry, every append on the disk when it resolves. */
export function sqliteJournal(file: string): ChainJournal & { entries(): JournalBlock[]; close(): void } {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec(
    'create table if not exists blocks (number integer primary key, first_number integer not null, entry text not null)',
  );
  const remove = database.prepare('delete from blocks where number >= ?');
  const insert = database.prepare('insert into blocks values (?, ?, ?)');
  const parse = (row: unknown) => JSON.parse((row as { entry: string }).entry) as JournalBlock;
  const append = database.transaction((blocks: JournalBlock[]) => {
    const [first] = blocks;
    if (!first) return;
    remove.run(first.firstNumber);
    for (const block of blocks) insert.run(block.number, block.firstNumber, JSON.stringify(block));
  });
  return {
    append: async (blocks) => append(blocks),
    read: async ({ afterBlock, limit }) =>
      database
        .prepare('select entry from blocks where number > ? order by number limit ?')
        .all(afterBlock, limit)
        .map(parse),
    lastBlock: async () =>
      (database.prepare('select coalesce(max(number), -1) as last from blocks').get() as { last: number })
        .last,
    truncateAfter: async (block) => void remove.run(block + 1),
    entries: () => database.prepare('select entry from blocks order by number').all().map(parse),
    close: () => void database.close(),
  };
}

export interface HostOptions {
  dir: string;
  journal?: boolean;
  port?: number;
  blockTimeSeconds?: number;
  startMs?: number;
  offsetMs?: number;
  frozen?: boolean;
  checkpointEveryBlocks?: number;
}

export interface HostReady {
  pid: number;
  guardPids: number[];
  rpcUrl: string;
  port: number;
  restoredBlocks: number;
}

export interface HostLog {
  level: string;
  message: string;
  fields: Record<string, unknown>;
}

/** A local chain with its clock; a process runs it, or the test itself. */
export async function openChain(options: HostOptions, logs: (log: HostLog) => void) {
  const logAt = (level: string) => (fields: LogFields, message: string) => logs({ level, message, fields });
  const { startMs, offsetMs, frozen } = options;
  const clock: AdjustableClock = adjustableClock({
    ...(startMs === undefined ? {} : { startMs }),
    ...(offsetMs === undefined ? {} : { offsetMs }),
    frozen: frozen ?? false,
  });
  const journal = options.journal === false ? undefined : sqliteJournal(join(options.dir, 'journal.sqlite'));
  const chain = await startLocalChain({
    journal,
    dataDir: options.dir,
    clock,
    bindAddress: '127.0.0.1',
    port: options.port ?? 0,
    blockTimeSeconds: options.blockTimeSeconds ?? 0,
    ...(options.checkpointEveryBlocks === undefined
      ? {}
      : { checkpointEveryBlocks: options.checkpointEveryBlocks }),
    onRestoring: (fields) => logs({ level: 'progress', message: 'restoring', fields }),
    log: { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') },
  });
  const now = () => ({ now: Math.floor(clock.now() / 1000) });
  const moved = async (move: () => void) => {
    move();
    await chain.syncClock();
    return now();
  };
  const commands: Record<string, (value: number) => Promise<unknown>> = {
    flush: () => chain.flush(),
    now: async () => now(),
    advance: (value) => moved(() => clock.advance(value)),
    set: (value) => moved(() => clock.set(value)),
    freeze: () => moved(() => clock.freeze()),
    run: () => moved(() => clock.run()),
    async stop() {
      await chain.stop();
      journal?.close();
    },
  };
  const { rpcUrl, port, restoredBlocks, pid, guardPids } = chain;
  return {
    ready: { rpcUrl, port, restoredBlocks, pid: pid ?? 0, guardPids },
    ask: async (command: string, value = 0) =>
      ((await commands[command]?.(value)) ?? {}) as Record<string, unknown>,
  };
}

/** A local chain in the test's own process. */
export async function startHere(options: HostOptions) {
  const logs: HostLog[] = [];
  const { ready, ask } = await openChain(options, (log) => logs.push(log));
  let stopping: Promise<unknown> | undefined;
  const stop = async () => {
    stopping ??= ask('stop');
    await stopping;
  };
  return { ready, logs, rpc: rpcOf(ready.rpcUrl), ask, stop };
}

/** True for a process that runs; one that only waits to be buried by its parent does not count. */
export const lives = (pid: number) => aliveOf([pid]).length > 0;

/** Resolves when none of the processes lives. */
export const gone = (pids: number[]) =>
  until(`the end of ${pids.join(', ')}`, () => aliveOf(pids).length === 0);

export const tempDir = () => mkdtempSync(join(tmpdir(), 'rewards-chain-'));

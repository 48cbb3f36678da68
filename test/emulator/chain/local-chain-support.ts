/** What the tests of the local chain share: a journal in SQLite, a host process that can be killed, RPC. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { build } from 'esbuild';
import type { Hex } from 'viem';
import type { ChainJournal, JournalBlock } from '../../../src/emulator/chain/chain-journal.ts';

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
  const receipt = async (hash: Hex) => {
    for (let tries = 0; tries < 400; tries += 1) {
      const found = await call<{ status: Hex; blockNumber: Hex; blockHash: Hex; from: Hex } | null>(
        'eth_getTransactionReceipt',
        hash,
      );
      if (found) return found;
      await pause(5);
    }
    throw new Error(`no receipt for ${hash}`);
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

/** A process of its own that runs the local chain, so that a test can kill it as a crash would. */
export async function startHost(options: HostOptions) {
  const child = spawn(process.execPath, [await hostProgram(), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const logs: HostLog[] = [];
  const answers: { resolve: (answer: Record<string, unknown>) => void; reject: (error: Error) => void }[] =
    [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Record<string, unknown>;
    if (message.level) logs.push(message as unknown as HostLog);
    else answers.shift()?.resolve(message);
  });
  child.once('exit', (code) => {
    for (const { reject } of answers.splice(0)) reject(new Error(`the host exited with ${code}`));
  });
  const next = () =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      answers.push({ resolve, reject });
    });
  const ready = (await next()) as unknown as HostReady;
  const ask = async (command: string, value?: number) => {
    const answer = next();
    child.stdin.write(`${JSON.stringify({ command, value })}\n`);
    return answer;
  };
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    ready,
    logs,
    rpc: rpcOf(ready.rpcUrl),
    ask,
    async stop() {
      if (!isRunning(child)) return;
      await ask('stop');
      await exit;
    },
    async kill() {
      if (isRunning(child)) child.kill('SIGKILL');
      await exit;
      await gone([ready.pid, ...ready.guardPids]);
    },
  };
}

const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

let program: Promise<string> | undefined;

/** The host program as JavaScript, below node_modules so that it finds the native packages. */
function hostProgram(): Promise<string> {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const outfile = join(root, 'node_modules', '.cache', `local-chain-host-${process.pid}.mjs`);
  program ??= build({
    entryPoints: [join(root, 'test/emulator/chain/local-chain-host.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['better-sqlite3', '@foundry-rs/anvil', 'esbuild'],
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'error',
  }).then(() => outfile);
  return program;
}

/** Removes the built host program. */
export const removeHostProgram = async () => {
  if (program) rmSync(await program, { force: true });
};

/** True for a process that runs; one that only waits to be buried by its parent does not count. */
export function lives(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)])
      .toString()
      .trim()
      .startsWith('Z');
  } catch {
    return false;
  }
}

/** Waits until none of the processes lives. */
export async function gone(pids: number[]): Promise<void> {
  const giveUpAt = performance.now() + GONE_CAP_MS;
  while (performance.now() < giveUpAt) {
    if (!pids.some(lives)) return;
    await pause(20);
  }
  throw new Error(`still there: ${pids.filter(lives).join(', ')}`);
}

const GONE_CAP_MS = 20_000;

/** Waits for what comes by itself. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(`waited in vain: ${what}`);
    await pause(25);
  }
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'rewards-chain-'));
  mkdirSync(dir, { recursive: true });
  return dir;
}

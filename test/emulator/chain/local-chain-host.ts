/** Runs one local chain for a test: options as the first argument, commands on stdin, answers on stdout. */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startLocalChain } from '../../../src/emulator/chain/local-chain.ts';
import { adjustableClock } from '../../../src/lib/clock.ts';
import type { LogFields } from '../../../src/lib/log.ts';
import { type HostOptions, sqliteJournal } from './local-chain-support.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as HostOptions;
const say = (message: unknown) => void process.stdout.write(`${JSON.stringify(message)}\n`);
const logAt = (level: string) => (fields: LogFields, message: string) => say({ level, message, fields });
const { startMs, offsetMs, frozen } = options;
const clock = adjustableClock({
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
  log: { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') },
});
const { rpcUrl, port, restoredBlocks, pid, guardPids } = chain;
say({ rpcUrl, port, restoredBlocks, pid, guardPids });

const commands: Record<string, (value: number) => Promise<unknown>> = {
  flush: () => chain.flush(),
  now: async () => ({ now: Math.floor(clock.now() / 1000) }),
  advance: (value) => moved(() => clock.advance(value)),
  set: (value) => moved(() => clock.set(value)),
  freeze: () => moved(() => clock.freeze()),
  run: () => moved(() => clock.run()),
  stop: () => chain.stop(),
};

async function moved(move: () => void) {
  move();
  await chain.syncClock();
  return { now: Math.floor(clock.now() / 1000) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { command, value } = JSON.parse(line) as { command: string; value?: number };
  say((await commands[command]?.(value ?? 0)) ?? {});
  if (command === 'stop') break;
}
journal?.close();
process.exit(0);

/** Runs one local chain for a test: options as the first argument, commands on stdin, answers on stdout. */
import { createInterface } from 'node:readline';
import { type HostOptions, openChain } from '../../emulator/chain/local-chain-support.ts';

const say = (message: unknown) => void process.stdout.write(`${JSON.stringify(message)}\n`);
const { ready, ask } = await openChain(JSON.parse(process.argv[2] ?? '{}') as HostOptions, say);
say(ready);
for await (const line of createInterface({ input: process.stdin })) {
  const { command, value } = JSON.parse(line) as { command: string; value?: number };
  say(await ask(command, value));
  if (command === 'stop') break;
}
process.exit(0);

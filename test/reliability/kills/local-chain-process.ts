/** A local chain in a process of its own, so that a test can kill it as a crash would. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import {
  gone,
  type HostLog,
  type HostOptions,
  type HostReady,
  rpcOf,
} from '../../emulator/chain/local-chain-support.ts';

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
    entryPoints: [join(root, 'test/reliability/kills/local-chain-host.ts')],
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

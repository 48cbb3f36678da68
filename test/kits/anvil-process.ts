/** Starts a real Anvil of its own for a test file, on a free port, and stops it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';

export type AnvilProcess = {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
};

/** The binary inside the platform package, which `@foundry-rs/anvil` would start through a wrapper. */
export function anvilBinary(): string {
  const cpu = arch() === 'x64' ? 'amd64' : arch();
  const os = platform() === 'win32' ? 'win32' : platform();
  const require = createRequire(import.meta.url);
  return require.resolve(`@foundry-rs/anvil-${os}-${cpu}/bin/anvil${os === 'win32' ? '.exe' : ''}`);
}

/** `args` are added to Anvil's command line; without any it mines each transaction at once. */
export function startAnvil(args: readonly string[] = []): Promise<AnvilProcess> {
  const child = spawn(anvilBinary(), ['--host', '127.0.0.1', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const match = /Listening on (127\.0\.0\.1:\d+)/.exec(output);
      if (match === null || child.pid === undefined) return;
      child.stdout.off('data', read).resume();
      resolve({ url: `http://${match[1]}`, pid: child.pid, stop: () => stopChild(child) });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`anvil exited with ${code}: ${output}`)));
  });
}

function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

/** Hands over to the test runner, with sizes in its environment. */
import { spawn } from 'node:child_process';

/** The exit code: 0 when every test passed. */
export async function runVitest(args: string[], sizes: Record<string, string | number>): Promise<number> {
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/reliability/vitest.config.ts', ...args],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        ...Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, String(size)])),
      },
    },
  );
  return new Promise((resolve) => child.on('exit', (code) => resolve(code === 0 ? 0 : 1)));
}

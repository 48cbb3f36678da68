/** How long commands take from nothing: `serve` until it is ready, `--help`, and Node alone beside them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { environmentWith, program, startProgram } from '../setup/processes.ts';
import { type Bench, withScope } from '../setup/scope.ts';
import type { Found } from './found.ts';

/** In turn, so many times each, after one of each that fills the caches of the disk. */
export async function measureStarts(bench: Bench, times: number): Promise<Found> {
  return withScope(bench, async ({ folder }) => {
    const starts: Required<Found>['starts'] = { serve: [], help: [], node: [] };
    for (let time = 0; time <= times; time++) {
      const one = {
        serve: await serveToReady(folder),
        help: await untilExit([program(), '--help'], folder),
        node: await untilExit(['-e', '0'], folder),
      };
      if (time === 0) continue;
      for (const name of ['serve', 'help', 'node'] as const) starts[name].push(one[name]);
    }
    bench.say(`${times} starts of serve, of --help and of Node alone`);
    return { rounds: {}, starts };
  });
}

/** Milliseconds until the line that says it is ready. */
async function serveToReady(cwd: string): Promise<number> {
  const startedAt = performance.now();
  const args = ['serve', '--quiet', '--ephemeral', '--port', '0', '--rpc-port', '0'];
  const serve = await startProgram(args, { env: {}, cwd });
  const milliseconds = performance.now() - startedAt;
  await serve.stop();
  return milliseconds;
}

async function untilExit(args: string[], cwd: string): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { cwd, env: environmentWith({}), stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}`);
  return performance.now() - startedAt;
}

/** Processes that run seeds, one for each core. */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import type { Job, Result } from '../simulation/simulator.ts';

export type Worker = ReturnType<typeof startWorker>;

export function startWorker() {
  const [, script = ''] = process.argv;
  // Every core has a worker: a garbage collector with threads of its own would only be in the way of the others.
  const execArgv = [...process.execArgv, '--single-threaded-gc', '--max-semi-space-size=64'];
  const child: ChildProcess = fork(script, ['sim-worker'], { execArgv });
  return {
    process: child,
    run: (job: Job) =>
      new Promise<Result>((resolve, reject) => {
        const gone = (code: number | null) => reject(new Error(`a worker ended with ${code}`));
        child.once('exit', gone);
        child.once('message', (result) => {
          child.off('exit', gone);
          resolve(result as Result);
        });
        child.send(job);
      }),
  };
}

export const say = (line: string) => void process.stdout.write(`${line}\n`);

/** The commit that is tried, for reports; a tree with changes is said to have some. */
export function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : ' with changes';
    return `${git('rev-parse', '--short', 'HEAD')}${changed}`;
  } catch {
    return 'unknown';
  }
}

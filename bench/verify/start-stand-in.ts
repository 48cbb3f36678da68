/** Starts the stand-in for a node. */
import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of its own that answers for the chain of `history.ts`; `file` has its task. */
export async function startStandIn(file: string) {
  const child = fork(new URL('./verify-node.mjs', import.meta.url).pathname, [file]);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Waits for a block that the chain did not have before. */
import { delay, stopwatch } from '../../lib/timers.ts';
import type { ChainClient } from '../rpc/client.ts';
import { isRpcError } from '../rpc/rpc.ts';

interface Patience {
  /** The newest block known so far; without it, the first that a node shows. */
  after: number | undefined;
  pollMs: number;
  /** A chain that has made no block for so long makes them on demand, and has none to make. */
  forMs: number;
  isOver: () => boolean;
}

/** Resolves when there is a newer block, when the time has passed, or when it is over. Nodes that fail are asked again. */
export async function nextBlock(
  chain: Pick<ChainClient, 'block'>,
  { after, pollMs, forMs, isOver }: Patience,
): Promise<void> {
  let newest = after;
  const elapsedMs = stopwatch();
  while (!isOver() && elapsedMs() < forMs) {
    const head = await chain.block('latest').catch((error: unknown) => {
      if (isRpcError(error)) return undefined;
      throw error;
    });
    newest ??= head?.number;
    if (head && newest !== undefined && head.number > newest) return;
    await delay(pollMs);
  }
}

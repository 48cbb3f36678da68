/**
 * Spreads what an account may have in flight over the time between two blocks. A lane that sends as fast as it can has
 * used its last place long before the next block, and what is decided after that waits for the block; paced, what is
 * decided within a few milliseconds shares a transaction.
 */
import type { Block, ChainClient } from '../rpc/client.ts';

/** The part of the places that is used without a pause: where little is decided, nothing waits. */
const FREE_SHARE = 1 / 4;
/** The block time is an average over this many blocks, since chains tell times in whole seconds. */
const BLOCKS_COMPARED = 8;
/** An emulator's clock may leap by days between two blocks; this bounds what that, or a very slow chain, can do. */
const PAUSE_MAX_MS = 250;

/** `chain`: what the lane asks; from its newest blocks the pace knows how often there is one. */
export function createPace({
  chain,
  inFlightMax,
  nowMs,
}: {
  chain: ChainClient;
  inFlightMax: number;
  nowMs: () => number;
}) {
  let blocks: Block[] = [];
  let newestAtMs = 0;
  let stored = 0;
  let pause = { sinceMs: 0, ms: 0 };

  function note(latest: Block) {
    const newest = blocks.at(-1);
    if (newest?.number === latest.number) return;
    // A chain that was reorganised, or a node that is behind, tells nothing of the time between blocks.
    const known = newest && latest.number > newest.number ? blocks : [];
    blocks = [...known, latest].slice(-BLOCKS_COMPARED - 1);
    newestAtMs = nowMs();
    stored = 0;
    pause = { sinceMs: newestAtMs, ms: 0 };
  }

  /** The time from one block to the next; undefined until two were seen. */
  function blockMs(): number | undefined {
    const [oldest, newest] = [blocks[0], blocks.at(-1)];
    if (!oldest || !newest || oldest === newest) return undefined;
    return ((newest.timestampSeconds - oldest.timestampSeconds) * 1_000) / (newest.number - oldest.number);
  }

  return {
    chain: {
      ...chain,
      async block(which) {
        const block = await chain.block(which);
        if (which === 'latest' && block) note(block);
        return block;
      },
    } satisfies ChainClient,
    /** A transaction is stored, and has one of the places until the next block. */
    stored() {
      stored += 1;
      const sinceMs = nowMs();
      const everyMs = blockMs();
      const isFree = everyMs === undefined || stored < inFlightMax * FREE_SHARE;
      const untilBlockMs = isFree ? 0 : Math.max(0, Math.min(everyMs, newestAtMs + everyMs - sinceMs));
      const ms = untilBlockMs / Math.max(1, inFlightMax - stored + 1);
      pause = { sinceMs, ms: Math.min(ms, PAUSE_MAX_MS) };
    },
    /** How long the next one is to wait, in milliseconds. */
    waitMs(): number {
      const passedMs = nowMs() - pause.sinceMs;
      // A clock that was set back measures nothing.
      return passedMs < 0 ? 0 : Math.max(0, pause.ms - passedMs);
    },
  };
}

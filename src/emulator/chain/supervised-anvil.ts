/** The emulator's chain as long as the stack runs: a node that dies is started again from the journal. */

import type { AnvilExit } from '../../chain/development/anvil.ts';
import {
  createRpc,
  type Rpc,
  RpcAnswerError,
  type RpcLimits,
  RpcUnreachableError,
} from '../../chain/rpc/rpc.ts';
import { createAvailability } from '../../lib/failures/availability.ts';
import { delay, stopwatch } from '../../lib/timers.ts';
import { type LocalChain, type LocalChainSettings, startLocalChain } from './local-chain.ts';

export interface SupervisedAnvil {
  /** Asks the node that runs now; `RpcUnreachableError` while none does. */
  rpc: Rpc;
  /** Where the node listens now: a node that was started again has another port. */
  port(): number;
  /** Resolves when the next block will carry the clock's time. */
  syncClock(): Promise<void>;
  /** As those of a local chain; they reject while no node runs. */
  save(): Promise<void>;
  flush(): Promise<void>;
  head: LocalChain['head'];
  /** Saves everything and ends the node; may be called again. */
  stop(): Promise<void>;
}

/** A node that dies this often in a row would die again, and each start costs seconds of processor time. */
const RESTARTS_MAX = 5;

/** A node that has lived this long did not die of its start, so its death is the first of a new row. */
const STEADY_MS = 60_000;

/** Between a start that failed and the next: whatever took memory or files may be gone by then. */
const RESTART_PAUSE_MS = 1_000;

/** Starts the chain and keeps it. Rejects as `startLocalChain` does; later failures to start are logged. */
export async function startSupervisedAnvil(
  settings: LocalChainSettings & { rpc: RpcLimits },
): Promise<SupervisedAnvil> {
  const { log } = settings;
  const journal = settings.isSavedOnlyOnDemand ? undefined : settings.journal;
  const availability = createAvailability({ what: "the chain's node", back: 'warn', log });
  const closing = new AbortController();
  const begin = async (port: number) => {
    const chain = await startLocalChain({ ...settings, port });
    return { chain, ask: createRpc({ url: chain.rpcUrl, ...settings.rpc }) };
  };
  let current = await begin(settings.port);
  let isAway = false;

  /** True when a node runs again. */
  const startAgain = async (): Promise<boolean> => {
    const attempt = availability.attempt();
    try {
      // Another port, so that no client reaches the node before it has its blocks back.
      current = await begin(0);
    } catch (error) {
      log.debug({ why: error instanceof Error ? error.message : String(error) }, 'the node did not start');
      return false;
    }
    isAway = false;
    attempt.answered();
    return true;
  };

  const keep = async (): Promise<void> => {
    let restarts = 0;
    while (!closing.signal.aborted) {
      const livedMs = stopwatch();
      const exit = await current.chain.exited;
      if (exit.asked || closing.signal.aborted) return;
      isAway = true;
      availability.attempt().failed(exit, endOf(exit));
      await current.chain.stop();
      if (!journal) {
        log.error(
          {},
          'the chain of an ephemeral stack is gone with its node: stop this stack and start it again',
        );
        return;
      }
      if (livedMs() >= STEADY_MS) restarts = 0;
      let isBack = false;
      while (!isBack && restarts < RESTARTS_MAX && !closing.signal.aborted) {
        if (restarts > 0) await delay(RESTART_PAUSE_MS, closing.signal);
        restarts += 1;
        isBack = await startAgain();
      }
      if (isBack) continue;
      if (!closing.signal.aborted)
        log.error({ restarts }, "the chain's node does not stay alive: stop this stack and start it again");
      return;
    }
  };
  const keeping = keep();

  return {
    rpc: watched(availability, (...call) => current.ask(...call)),
    port: () => current.chain.port,
    // A node that is started again takes the clock's time by itself.
    syncClock: async () => (isAway ? undefined : current.chain.syncClock()),
    save: () => current.chain.save(),
    flush: () => current.chain.flush(),
    head: () => current.chain.head(),
    async stop() {
      closing.abort();
      // A node that is being started has to be there before it can be stopped.
      if (isAway) await keeping;
      await current.chain.stop();
    },
  };
}

/** Tells `availability` what came of each call, so that the loss of the node stands in the log once. */
function watched(availability: ReturnType<typeof createAvailability>, ask: Rpc): Rpc {
  return async (...call) => {
    const attempt = availability.attempt();
    try {
      const answer = await ask(...call);
      attempt.answered();
      return answer;
    } catch (error) {
      if (error instanceof RpcAnswerError) attempt.answered();
      if (error instanceof RpcUnreachableError) attempt.failed(error, error.reason);
      throw error;
    }
  };
}

const endOf = ({ code, signal }: AnvilExit) =>
  signal === undefined ? `it has ended with code ${code}` : `it was ended by ${signal}`;

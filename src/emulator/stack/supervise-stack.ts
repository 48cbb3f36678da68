/** Supervises what stands behind the listeners: opens it, and puts another stack in its place while they stay open. */

import { createLifecycle, type Lifecycle } from '../../compose/lifecycle.ts';
import type { ClockStart } from '../../lib/clock.ts';
import { rootMessage } from '../../lib/failures/root-cause.ts';
import { createMutex } from '../../lib/mutex.ts';
import type { HostUrls } from '../open-hosts.ts';
import { SnapshotError } from '../snapshots/snapshot-error.ts';
import { beginSwap, settleSwap, undoSwap } from '../snapshots/swap-files.ts';
import type { DrainGate } from './drain-gate.ts';
import {
  openStack,
  type Stack,
  type StackContext,
  type StackReady,
  type StartOptions,
} from './open-stack.ts';

export interface StackSupervisor {
  /** Undefined while it is away. */
  current(): Stack | undefined;
  /** Opens the first stack, on the files that are there or, when `imported` is given, on those. */
  open(imported?: () => Promise<Replacement>): Promise<Stack>;
  /** One at a time: whatever needs the stack to stay what it is. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Closes the stack, puts other files in the place of its own, and opens it again; to be called in `alone`. When it does
   * not open with them, the former files are back, and this rejects with `SnapshotError`.
   */
  replace(replacement: Replacement): Promise<StackReady>;
  close(): Promise<void>;
}

export interface Replacement {
  /** Without any, the stack is the one that the seed files describe. */
  parts: ReadonlyMap<string, Buffer>;
  clockStart?: ClockStart | undefined;
  /** Called when the stack has opened with them, before a request reaches it. */
  onOpened?: (() => void) | undefined;
}

/** The stack that is open, and the one that is being opened. */
function createOpener(context: () => StackContext) {
  let opened: { stack: Stack; lifecycle: Lifecycle } | undefined;
  // Known at once, so that a stop ends what hangs while it opens.
  let starting: Lifecycle | undefined;
  return {
    current: () => opened?.stack,
    async open(options: StartOptions): Promise<Stack> {
      const lifecycle = createLifecycle();
      starting = lifecycle;
      try {
        const stack = await lifecycle.start(() => openStack(context(), lifecycle, options));
        opened = { stack, lifecycle };
        return stack;
      } catch (error) {
        await lifecycle.stop().catch(() => undefined);
        throw error;
      } finally {
        starting = undefined;
      }
    },
    async close(): Promise<void> {
      const was = opened;
      opened = undefined;
      await was?.lifecycle.stop();
    },
    cutShort: async () => starting?.stop(),
  };
}

const startOptionsOf = ({ parts, clockStart }: Replacement): StartOptions => ({
  clockStart,
  isRestored: parts.size > 0,
});

export function createStackSupervisor(deps: {
  context: () => StackContext;
  gate: DrainGate;
  urls: () => HostUrls | undefined;
  /** Told of a stack that took the place of another. */
  onReplaced: (ready: StackReady) => void;
}): StackSupervisor {
  const { gate } = deps;
  const alone = createMutex();
  const opener = createOpener(deps.context);
  let isClosed = false;

  const connected = async (stack: Stack, onOpened?: () => void): Promise<StackReady> => {
    const urls = deps.urls();
    if (!urls) throw new Error('the listeners are not open');
    const ready = await stack.connect(urls);
    onOpened?.();
    gate.open(stack.apps);
    return ready;
  };
  async function swapped(replacement: Replacement): Promise<StackReady> {
    const { dataDir, config } = deps.context();
    try {
      await beginSwap(dataDir, replacement.parts);
      const ready = await connected(await opener.open(startOptionsOf(replacement)), replacement.onOpened);
      await settleSwap(dataDir);
      return ready;
    } catch (error) {
      config.log.error({ why: rootMessage(error) }, 'the stack could not be opened with a snapshot');
      await opener.close().catch(() => undefined);
      await undoSwap(dataDir);
      await connected(await opener.open({ isRestored: true }));
      throw notOpened(error);
    }
  }

  return {
    alone,
    current: opener.current,
    async open(imported) {
      const { dataDir } = deps.context();
      await undoSwap(dataDir);
      if (!imported) return opener.open({});
      const replacement = await imported();
      await beginSwap(dataDir, replacement.parts);
      const stack = await opener.open(startOptionsOf(replacement));
      await settleSwap(dataDir);
      return stack;
    },
    async replace(replacement) {
      if (isClosed) throw new Error('the stack is being stopped');
      await opener.current()?.settle();
      await gate.close();
      try {
        await opener.close().catch((error: unknown) => {
          const { log } = deps.context().config;
          log.warn({ why: rootMessage(error) }, 'not everything stopped cleanly');
        });
        const ready = await swapped(replacement);
        deps.onReplaced(ready);
        return ready;
      } catch (error) {
        if (!opener.current()) gate.giveUp();
        throw error;
      }
    },
    async close() {
      isClosed = true;
      await opener.cutShort();
      await alone(opener.close);
    },
  };
}

const notOpened = (cause: unknown) =>
  new SnapshotError(
    'snapshot_not_opened',
    {
      message: `The stack could not be opened with it: ${rootMessage(cause)}; the former data is back`,
      fix: 'Look at the log of the stack; another snapshot may open.',
    },
    { cause },
  );

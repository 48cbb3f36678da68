/** Keeps the one world of a stack, and puts another in its place while the listeners stay open. */

import { createLifecycle, type Lifecycle } from '../../compose/lifecycle.ts';
import type { ClockStart } from '../../lib/clock.ts';
import { rootMessage } from '../../lib/failures/root-cause.ts';
import { createMutex } from '../../lib/mutex.ts';
import type { HostUrls } from '../open-hosts.ts';
import { SnapshotError } from '../snapshots/snapshot-error.ts';
import { beginSwap, settleSwap, undoSwap } from '../snapshots/swap-files.ts';
import type { WorldGate } from './drain-gate.ts';
import { type Beginning, openWorld, type Surroundings, type World, type WorldReady } from './open-stack.ts';

export interface WorldKeeper {
  /** Undefined while it is away. */
  current(): World | undefined;
  /** Opens the first world, on the files that are there or, when `imported` is given, on those. */
  open(imported?: () => Promise<Replacement>): Promise<World>;
  /** One at a time: whatever needs the world to stay what it is. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Closes the world, puts other files in the place of its own, and opens it again; to be called in `alone`. When it does
   * not open with them, the former files are back, and this rejects with `SnapshotError`.
   */
  replace(replacement: Replacement): Promise<WorldReady>;
  close(): Promise<void>;
}

export interface Replacement {
  /** Without any, the world is the one that the seed files describe. */
  parts: ReadonlyMap<string, Buffer>;
  clockStart?: ClockStart | undefined;
  /** Called when the world has opened with them, before a request reaches it. */
  onOpened?: (() => void) | undefined;
}

/** The world that is open, and the one that is being opened. */
function createOpener(surroundings: () => Surroundings) {
  let opened: { world: World; lifecycle: Lifecycle } | undefined;
  // Known at once, so that a stop ends what hangs while it opens.
  let starting: Lifecycle | undefined;
  return {
    current: () => opened?.world,
    async open(beginning: Beginning): Promise<World> {
      const lifecycle = createLifecycle();
      starting = lifecycle;
      try {
        const world = await lifecycle.start(() => openWorld(surroundings(), lifecycle, beginning));
        opened = { world, lifecycle };
        return world;
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

const beginningOf = ({ parts, clockStart }: Replacement): Beginning => ({
  clockStart,
  isRestored: parts.size > 0,
});

export function createWorldKeeper(deps: {
  surroundings: () => Surroundings;
  gate: WorldGate;
  urls: () => HostUrls | undefined;
  /** Told of a world that took the place of another. */
  onReplaced: (ready: WorldReady) => void;
}): WorldKeeper {
  const { gate } = deps;
  const alone = createMutex();
  const opener = createOpener(deps.surroundings);
  let isClosed = false;

  const connected = async (world: World, onOpened?: () => void): Promise<WorldReady> => {
    const urls = deps.urls();
    if (!urls) throw new Error('the listeners are not open');
    const ready = await world.connect(urls);
    onOpened?.();
    gate.open(world.apps);
    return ready;
  };
  async function swapped(replacement: Replacement): Promise<WorldReady> {
    const { dataDir, config } = deps.surroundings();
    try {
      await beginSwap(dataDir, replacement.parts);
      const ready = await connected(await opener.open(beginningOf(replacement)), replacement.onOpened);
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
      const { dataDir } = deps.surroundings();
      await undoSwap(dataDir);
      if (!imported) return opener.open({});
      const replacement = await imported();
      await beginSwap(dataDir, replacement.parts);
      const world = await opener.open(beginningOf(replacement));
      await settleSwap(dataDir);
      return world;
    },
    async replace(replacement) {
      if (isClosed) throw new Error('the stack is being stopped');
      await opener.current()?.settle();
      await gate.close();
      try {
        await opener.close().catch((error: unknown) => {
          const { log } = deps.surroundings().config;
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

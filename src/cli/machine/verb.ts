/** Declares commands without loading their handlers. */
import type { Command } from 'commander';
import type { Handler } from './context.ts';

/** Runs the handler that `load` brings; the same for every command. */
export type Perform = <Options>(command: Command, load: () => Promise<Handler<Options>>) => Promise<void>;

/** What a declaration gets: its parent command, and the way to run a handler. */
export interface Catalog {
  parent: Command;
  /** Wraps a handler in an action that loads it only when the command runs. */
  lazily: <Options>(load: () => Promise<Handler<Options>>) => (...received: unknown[]) => Promise<void>;
}

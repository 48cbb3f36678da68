/** How a command is put on the list without loading what it does. */
import type { Command } from 'commander';
import type { Handler } from './context.ts';

/** Runs the handler that `load` brings; the same for every command. */
export type Perform = <Options>(command: Command, load: () => Promise<Handler<Options>>) => Promise<void>;

/** What a declaration gets: where to hang its command, and how the command will be run. */
export interface Catalog {
  parent: Command;
  /** An action that loads its handler only when it is called. */
  lazily: <Options>(load: () => Promise<Handler<Options>>) => (...received: unknown[]) => Promise<void>;
}

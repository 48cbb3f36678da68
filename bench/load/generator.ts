/** The load generator, a process of its own, so that what it needs can be told from what the service needs. */
import type { Load } from './load.ts';
import { runLoad } from './run-load.ts';

process.on('message', (load: Load) => {
  runLoad(load).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());

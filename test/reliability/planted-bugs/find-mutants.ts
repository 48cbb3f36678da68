/** Looks for each planted bug in turn, and prints which seed found it by which check. */
import { availableParallelism } from 'node:os';
import { commit, say, startWorker } from '../long-runs/workers.ts';
import { mutantNamed } from '../simulation/simulator.ts';
import { mutants } from './mutants.ts';

export interface PlantedOptions {
  /** All of them when empty. */
  names: string[];
  /** So many are tried before a bug counts as not found. */
  seeds: number;
  from: number;
  workers: number | undefined;
}

const SLICE = 250;

interface Caught {
  name: string;
  seed: number | undefined;
  check: string;
  seeds: number;
}

/** The exit code: 0 when every planted bug was found. */
export async function catchAll(options: PlantedOptions): Promise<number> {
  const names = options.names.length > 0 ? options.names : mutants.map(({ name }) => name);
  for (const name of names) mutantNamed(name);
  const workers = Array.from({ length: options.workers ?? availableParallelism() }, startWorker);
  const open = [...names];
  const found: Caught[] = [];
  const startedMs = performance.now();
  try {
    await Promise.all(
      workers.map(async (worker) => {
        for (let name = open.shift(); name !== undefined; name = open.shift()) {
          const one = await look(worker, name, options);
          found.push(one);
          say(`… ${found.length} of ${names.length}: ${name} after ${one.seeds} seeds`);
        }
      }),
    );
  } finally {
    for (const worker of workers) worker.process.kill();
  }
  const wide = Math.max(...names.map(({ length }) => length));
  say(`${'planted bug'.padEnd(wide)}  ${'seed'.padStart(6)}  check`);
  for (const name of names) {
    const one = found.find((caught) => caught.name === name);
    const seed = one?.seed === undefined ? 'none' : String(one.seed);
    const check = one?.seed === undefined ? `SURVIVED ${one?.seeds ?? 0} seeds` : one.check;
    say(`${name.padEnd(wide)}  ${seed.padStart(6)}  ${check}`);
  }
  const caught = found.filter(({ seed }) => seed !== undefined).length;
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  say(`${caught} of ${names.length} planted bugs caught at ${commit()} in ${seconds} s`);
  return caught === names.length ? 0 : 1;
}

async function look(
  { run }: ReturnType<typeof startWorker>,
  name: string,
  { from, seeds }: PlantedOptions,
): Promise<Caught> {
  const first = mutantNamed(name).searchFrom ?? 1;
  let tried = 0;
  while (tried < seeds) {
    const size = Math.min(SLICE, seeds - tried);
    const job = {
      from: first - 1 + from + tried,
      seeds: size,
      mutant: name,
      stopAtFirst: true,
      trace: false,
    };
    const result = await run(job);
    tried += result.seeds;
    const [broken] = result.failed;
    if (broken)
      return { name, seed: broken.seed, check: broken.findings[0]?.invariant ?? 'unknown', seeds: tried };
  }
  return { name, seed: undefined, check: '', seeds: tried };
}

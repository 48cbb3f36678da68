/** `npm run torture -- <part>`: hands over to the part that is asked for. */
import { parseArgs } from 'node:util';

const USAGE = `usage: npm run torture -- sim [--seeds N] [--from N] [--workers N] [--mutant NAME|all] [--keep-going]
`;

const [part, ...args] = process.argv.slice(2);
if (part === 'sim') {
  const { values } = parseArgs({
    args,
    options: {
      seeds: { type: 'string', default: '200000' },
      from: { type: 'string', default: '1' },
      workers: { type: 'string' },
      mutant: { type: 'string' },
      'keep-going': { type: 'boolean', default: false },
    },
  });
  const { torture } = await import('./sim.ts');
  process.exitCode = await torture({
    seeds: Number(values.seeds),
    from: Number(values.from),
    workers: values.workers === undefined ? undefined : Number(values.workers),
    mutant: values.mutant,
    keepGoing: values['keep-going'],
  });
} else if (part === 'sim-worker') {
  const { work } = await import('./sim-worker.ts');
  await work();
} else {
  process.stderr.write(USAGE);
  process.exitCode = 2;
}

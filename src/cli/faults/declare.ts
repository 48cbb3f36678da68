/** `rewards faults`: names, arguments and options. */
import { seams, spelled } from '../../emulator/faults/seams.ts';
import { asGiven, durationMs, option, wholeNumberOf } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareFaults({ parent, lazily }: Catalog): void {
  const faults = parent
    .command('faults')
    .summary('let the node, the database and others fail on purpose (emulator only)')
    .description(
      'What is outside of the service fails as it would in production: the service retries, refuses and recovers, and pays once.',
    );
  faults
    .command('list')
    .summary('show the faults that are set')
    .action(lazily(async () => (await import('../emulator/faults.ts')).listFaults));
  faults
    .command('set')
    .summary('set a fault, until it has struck often enough, its time has passed, or it is cleared')
    .argument('<fault>', 'seam=effect, or a seam alone for its first effect')
    .addOption(
      option('--times <number>', 'how many uses it strikes, whoever makes them', {
        parse: wholeNumberOf(1, Number.MAX_SAFE_INTEGER),
      }),
    )
    .addOption(
      option('--for <duration>', "how long it stays set, on the emulator's clock", {
        parse: asGiven(durationMs),
      }),
    )
    .addHelpText('after', `\nSeams and effects:\n${effectLines()}\n${EXAMPLES}`)
    .action(lazily(async () => (await import('../emulator/faults.ts')).setFault));
  faults
    .command('clear')
    .summary('clear a fault, all faults of a seam, or all')
    .argument('[name]', 'id of a fault, or a seam [default: all]')
    .action(lazily(async () => (await import('../emulator/faults.ts')).clearFaults));
}

const EXAMPLES = `
Examples:
  rewards faults set node=away --times 3
  rewards faults set node=slow:300ms --for 10m
  rewards faults clear node`;

const effectLines = () =>
  Object.entries(seams)
    .flatMap(([seam, { effects }]) =>
      Object.entries(effects).map(
        ([name, effect]) => `  ${`${seam}=${spelled(name, effect)}`.padEnd(30)} ${effect.does}`,
      ),
    )
    .join('\n');

/** `rewards start`, `db`, `verify` and `doctor`: their options. */

import type { Catalog } from '../machine/catalog.ts';
import { option, wholeNumberOf } from '../machine/options.ts';
import { ledgerOptions, nodeOptions, startOptions } from './options.ts';

export function declareStart({ parent, lazily }: Catalog): void {
  const start = parent
    .command('start')
    .summary('run the service in production, against Postgres and real chain nodes')
    .description(
      'Runs until it is stopped. Refuses to start with anything that is unsafe, and says how to put it right; docs/operations.md explains every setting. Secrets are read from files, or from variables of the same name without _FILE.',
    );
  for (const one of startOptions()) start.addOption(one);
  start
    .addOption(option('--check', 'check everything that a start would, change nothing, and exit'))
    .addHelpText(
      'after',
      '\nExit codes: 0 stopped cleanly or nothing in the way, 2 a setting is missing, 5 something is unsafe, 75 start it again.',
    )
    .action(lazily(async () => (await import('./run.ts')).start));
}

export function declareDatabase({ parent, lazily }: Catalog): void {
  const database = parent.command('db').summary("the ledger's database of a production service");
  const migrate = database
    .command('migrate')
    .summary('bring it to the newest tables; several at once are safe')
    .action(lazily(async () => (await import('../db/run.ts')).migrateDatabase));
  const status = database
    .command('status')
    .summary('say what it lacks; exit code 1 when that is anything')
    .action(lazily(async () => (await import('../db/run.ts')).databaseStatus));
  for (const verb of [migrate, status]) for (const one of ledgerOptions()) verb.addOption(one);
}

export function declareVerify({ parent, lazily }: Catalog): void {
  const verify = parent
    .command('verify')
    .summary('compare ledger and chain; exit code 1 when they differ')
    .description(
      'Reads only. Compares the emulator that runs here; with an address of a database, a production ledger with the chain that it was written for.',
    );
  for (const one of [...ledgerOptions(), ...nodeOptions()]) verify.addOption(one);
  verify
    .addOption(
      option('--limit <n>', 'end the search at so many differences', {
        default: 50,
        parse: wholeNumberOf(1, 1_000),
      }),
    )
    .action(lazily(async () => (await import('../verify/run.ts')).verify));
}

export function declareDoctor({ parent, lazily }: Catalog): void {
  const doctor = parent
    .command('doctor')
    .summary('check this machine and these settings; exit code 1 when something is wrong')
    .description(
      'Each problem is one line on stderr, with what to do about it. With --quiet nothing else is printed.',
    )
    .argument('[check...]', 'only these: node, sqlite, anvil, ports, variables, stack, database, chain')
    .action(lazily(async () => (await import('../doctor/run.ts')).doctor));
  doctor
    .command('healthcheck')
    .summary("ask the service in this container whether it is ready, as a container's health check")
    .action(lazily(async () => (await import('../doctor/run.ts')).healthcheck));
  for (const one of [...ledgerOptions(), ...nodeOptions()]) doctor.addOption(one);
}

/** `rewards start`, `db`, `verify` and `doctor`: their options. */

import { option, wholeNumberOf } from '../machine/options.ts';
import { ledgerOptions, nodeOptions, startOptions } from '../machine/setting-options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareStart({ parent, lazily }: Catalog): void {
  const start = parent
    .command('start')
    .summary('run the service in production, against Postgres and real chain nodes')
    .description(
      'Runs until it is stopped. Refuses to start with unsafe settings, and says how to fix them; docs/operations.md explains every setting. Secrets are read from files, or from variables of the same name without _FILE.',
    );
  for (const one of startOptions()) start.addOption(one);
  start
    .addOption(option('--check', 'run all checks of a start, change nothing, and exit'))
    .addHelpText(
      'after',
      '\nExit codes: 0 stopped cleanly, or every check passed; 2 a setting is missing; 5 something is unsafe; 75 start it again.',
    )
    .action(lazily(async () => (await import('./start.ts')).start));
}

export function declareDatabase({ parent, lazily }: Catalog): void {
  const database = parent.command('db').summary("the ledger's database of a production service");
  const migrate = database
    .command('migrate')
    .summary('apply pending migrations; safe to run several times at once')
    .action(lazily(async () => (await import('./database.ts')).migrateDatabase));
  const status = database
    .command('status')
    .summary('list pending migrations and unsafe settings; exit code 1 when migrations are pending')
    .action(lazily(async () => (await import('./database.ts')).databaseStatus));
  for (const verb of [migrate, status]) for (const one of ledgerOptions()) verb.addOption(one);
}

export function declareVerify({ parent, lazily }: Catalog): void {
  const verify = parent
    .command('verify')
    .summary('compare ledger and chain; exit code 1 when they differ')
    .description(
      'Changes nothing. Compares the ledger and chain of the emulator that runs here or, with the address of a database, a production ledger with its chain. With --since, what is older and every sum over all of history are not compared; the answer says so.',
    );
  for (const one of [...ledgerOptions(), ...nodeOptions()]) verify.addOption(one);
  verify
    .addOption(
      option('--limit <n>', 'stop after this number of differences', {
        default: 50,
        parse: wholeNumberOf(1, 1_000),
      }),
    )
    .addOption(
      option('--since <block|time>', 'compare a part: from this block, or from the first block at this time'),
    )
    .action(lazily(async () => (await import('../check/verify.ts')).verify));
}

export function declareDoctor({ parent, lazily }: Catalog): void {
  const doctor = parent
    .command('doctor')
    .summary('check this machine and its settings; exit code 1 on any problem')
    .description(
      'Prints each problem and its fix as one line on stderr. With --quiet it prints nothing else.',
    )
    .argument(
      '[check...]',
      'only these checks: node, sqlite, anvil, ports, variables, stack, database, keyless, money, chain',
    )
    .action(lazily(async () => (await import('../check/doctor.ts')).doctor));
  doctor
    .command('healthcheck')
    .summary("ask the service in this container whether it is ready, as a container's health check")
    .action(lazily(async () => (await import('../check/doctor.ts')).healthcheck));
  for (const one of [...ledgerOptions(), ...nodeOptions()]) doctor.addOption(one);
}

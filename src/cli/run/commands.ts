/** Commands that run the service. */
import { option, settingOption } from '../machine/options.ts';
import { ledgerOptions, plainOption, startOptions } from '../machine/shared-options.ts';
import { from, type Verbs } from '../machine/verb.ts';
import { serveSettings } from './serve-settings.ts';

const serve = from(() => import('./serve.ts'));
const start = from(() => import('./start.ts'));
const database = from(() => import('./database.ts'));

export const runCommands: Verbs = {
  serve: {
    summary: 'run the whole service here, with its own chain and an adjustable clock',
    description:
      'Runs the whole service on this machine, with its chain, until it is stopped. Other commands in the same directory find it automatically.',
    options: [
      ...serveSettings.map(settingOption),
      option(
        '--detach',
        'go on in the background once it is ready; `rewards logs` and `rewards stop` are for it',
      ),
      plainOption('lines only, without the live view that a terminal gets'),
      option(
        '--export-on-exit [snapshot]',
        'save a snapshot at the end; its name, or a path [default: last-exit]',
        {
          env: 'REWARDS_DEV_EXPORT_ON_EXIT',
        },
      ),
    ],
    run: serve('serve'),
  },
  start: {
    summary: 'run the service in production, against Postgres and real chain nodes',
    description:
      'Runs until it is stopped. Refuses to start with unsafe settings, and says how to fix them; docs/operations.md explains every setting. Secrets are read from files, or from variables of the same name without _FILE.',
    options: [...startOptions(), option('--check', 'run all checks of a start, change nothing, and exit')],
    help: '\nExit codes: 0 stopped cleanly, or every check passed; 2 a setting is missing; 5 something is unsafe; 75 start it again.',
    run: start('start'),
  },
  db: {
    summary: "the ledger's database of a production service",
    verbs: {
      migrate: {
        summary: 'apply pending migrations; safe to run several times at once',
        options: ledgerOptions(),
        run: database('migrateDatabase'),
      },
      status: {
        summary: 'list pending migrations and unsafe settings; exit code 1 when migrations are pending',
        options: ledgerOptions(),
        run: database('databaseStatus'),
      },
    },
  },
};

/** `rewards constraint-updater`: its options. */

import { httpUrl, option, port } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareConstraintUpdater({ parent, lazily }: Catalog): void {
  parent
    .command('constraint-updater')
    .summary(
      "take invalidations of constraint results on the brand's own host, and pass them on with its key",
    )
    .description(
      "What a brand puts beside its own systems, so that these need not know the brand's key: POST /invalidate-external-api takes the same body and gives the same answer as the service's endpoint. Callers may be asked for a key of their own.",
    )
    .addOption(
      option('-p, --port <n>', 'port to listen on; 0 for any free one', { default: 4243, parse: port }),
    )
    .addOption(option('--bind <address>', 'address to listen on', { default: '127.0.0.1' }))
    .addOption(
      option('--forward-to <url>', "address of the service's event handler [default: the running stack's]", {
        parse: httpUrl,
      }),
    )
    .addOption(
      option(
        '--api-key-file <path>',
        "brand API key [default: the running stack's]; - reads standard input",
        {
          env: 'REWARDS_API_KEY_FILE',
        },
      ),
    )
    .addOption(
      option(
        '--caller-key-file <path>',
        'key that callers must send as a bearer token; without it, anybody may ask',
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  rewards constraint-updater
  rewards constraint-updater --forward-to https://events.example --api-key-file key --caller-key-file caller-key`,
    )
    .action(lazily(async () => (await import('../talk/constraint-updater.ts')).runConstraintUpdater));
}

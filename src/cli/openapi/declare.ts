/** `rewards openapi`: its options. */

import { option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareOpenapi({ parent, lazily }: Catalog): void {
  parent
    .command('openapi')
    .summary("print the API's description as OpenAPI 3.1")
    .description(
      'Prints the OpenAPI 3.1 document of a host. No service needs to run; with --target, the document names that address.',
    )
    .addOption(
      option(
        '--host <host>',
        'the host: the event handler, the one that registers users, the services for users, the relay, or the controls of the emulator',
        {
          default: 'events',
          choices: ['events', 'register', 'services', 'relay', 'control'],
        },
      ),
    )
    .addHelpText('after', '\nExample:\n  rewards openapi > openapi.json')
    .action(lazily(async () => (await import('../about/openapi.ts')).printOpenapi));
}

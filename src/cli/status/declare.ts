/** `rewards status`: its options. */
import type { Catalog } from '../machine/verb.ts';

export function declareStatus({ parent, lazily }: Catalog): void {
  parent
    .command('status')
    .summary('ask each part of the running stack whether it works')
    .description(
      'Asks service, ledger, chain, identity provider, payment processor, site and clock. Exit code 0 when all of them work, 1 when one does not, 3 when nothing runs here or nobody answers. Of a service named with --target it asks what its health tells.',
    )
    .action(lazily(async () => (await import('../around/status.ts')).status));
}

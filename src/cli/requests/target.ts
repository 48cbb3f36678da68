/** Where requests are looked up: at the emulator, or in the database of a production service, by the same calls. */
import type { Client } from '../../client/create-client.ts';
import type { HostUrls } from '../../client/host-urls.ts';
import type { Secret } from '../../production/secrets.ts';
import type { RunInfo } from '../../stack/run-file.ts';
import type { CommandContext } from '../machine/context.ts';
import { withControl } from '../service/control.ts';
import type { LedgerOptions } from '../start/options.ts';

export interface RequestsOptions extends LedgerOptions {
  walletsXpubFile?: string;
}

export interface RequestsTarget {
  requests: Client['control']['requests'];
  /** The emulator that kept the requests; absent for a database. */
  emulator?: Emulator;
}

/** Where requests can be sent again, and what knows the credentials for that. */
export interface Emulator {
  urls: HostUrls;
  control: Client['control'];
  /** The stack's run file; absent when it runs elsewhere. */
  run?: RunInfo | undefined;
}

export const withRequests = <T>(
  context: CommandContext,
  options: RequestsOptions,
  work: (target: RequestsTarget) => Promise<T>,
): Promise<T> =>
  withControl(context, options, {
    ofLedger: (ledger) => ledger.requests(xpubSecret(options, context.runtime.env)),
    work: ({ control, urls, run }) =>
      work({ requests: control.requests, ...(urls && { emulator: { urls, control, run } }) }),
  });

const xpubSecret = ({ walletsXpubFile }: RequestsOptions, env: CommandContext['runtime']['env']): Secret =>
  walletsXpubFile === undefined ? { value: env.REWARDS_WALLETS_XPUB } : { files: [walletsXpubFile] };

/** Where requests are looked up: at the emulator, or in the database of a production service, by the same calls. */
import type { Client } from '../../client/create-client.ts';
import type { Secret } from '../../production/secrets.ts';
import type { CommandContext } from '../machine/context.ts';
import { withControl } from '../service/control.ts';
import type { LedgerOptions } from '../start/options.ts';

export interface RequestsOptions extends LedgerOptions {
  walletsXpubFile?: string;
}

export interface RequestsTarget {
  requests: Client['control']['requests'];
  /** The service's address; absent for a database. */
  url?: string;
}

export const withRequests = <T>(
  context: CommandContext,
  options: RequestsOptions,
  work: (target: RequestsTarget) => Promise<T>,
): Promise<T> =>
  withControl(context, options, {
    ofLedger: (ledger) => ledger.requests(xpubSecret(options, context.runtime.env)),
    work: ({ control, url }) => work({ requests: control.requests, ...(url !== undefined && { url }) }),
  });

const xpubSecret = ({ walletsXpubFile }: RequestsOptions, env: CommandContext['runtime']['env']): Secret =>
  walletsXpubFile === undefined ? { value: env.REWARDS_WALLETS_XPUB } : { files: [walletsXpubFile] };

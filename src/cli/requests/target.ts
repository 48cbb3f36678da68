/** Where requests are looked up: at the emulator, or in the database of a production service, by the same calls. */
import type { Client } from '../../client/create-client.ts';
import { isGiven, type Secret } from '../../production/secrets.ts';
import type { CommandContext } from '../machine/context.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import { type LedgerOptions, ledgerSecrets } from '../start/options.ts';

export interface RequestsOptions extends LedgerOptions {
  walletsXpubFile?: string;
}

interface RequestsTarget {
  requests: Client['control']['requests'];
  /** The service's address; absent for a database. */
  url?: string;
}

/** Passes the calls to `work` and closes their connections afterwards, even when it fails. */
export async function withRequests<T>(
  context: CommandContext,
  options: RequestsOptions,
  work: (target: RequestsTarget) => Promise<T>,
): Promise<T> {
  const { settings, about, runtime } = context;
  const { database: secret } = ledgerSecrets(options);
  if (!isGiven(secret) || settings.target !== undefined) {
    const target = await resolveTarget(context);
    return work({ requests: clientFor(target, context).control.requests, url: target.urls.events });
  }
  // Loaded only here, since they load the database.
  const { openOfflineRequests } = await import('../../production/requests/offline-requests.ts');
  const { userHasher } = await import('../../production/requests/user-hash.ts');
  const { ledgerAddress } = await import('../../production/offline-ledger.ts');
  const { readSecret } = await import('../../production/secrets.ts');
  const { startSettings } = await import('../../production/settings.ts');
  const { createClient } = await import('../../client/create-client.ts');
  const { hostUrls } = await import('../../client/host-urls.ts');
  const { cwd, env } = runtime;
  const databaseUrl = await ledgerAddress({ cwd, secret, allowSqlite: options.allowSqlite });
  const xpub = await readSecret(startSettings.walletsXpub, { cwd, secret: xpubSecret(options, env) });
  const offline = await openOfflineRequests(databaseUrl, xpub === undefined ? undefined : userHasher(xpub));
  about.target = offline.where;
  try {
    const client = createClient({
      urls: hostUrls('http://ledger.invalid'),
      timeoutMs: settings.timeout,
      fetch: offline.fetch,
    });
    return await work({ requests: client.control.requests });
  } finally {
    await offline.close();
  }
}

const xpubSecret = ({ walletsXpubFile }: RequestsOptions, env: CommandContext['runtime']['env']): Secret =>
  walletsXpubFile === undefined ? { value: env.REWARDS_WALLETS_XPUB } : { files: [walletsXpubFile] };

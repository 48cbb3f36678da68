/** Where brands are managed: at the emulator, or straight in a database of production, by the same calls. */
import type { Client } from '../../client/create-client.ts';
import { isGiven } from '../../production/secrets.ts';
import type { CommandContext } from '../machine/context.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import { type LedgerOptions, ledgerSecrets } from '../start/options.ts';

export type BrandOptions = LedgerOptions;

interface BrandTarget {
  brands: Client['control']['brands'];
  /** The brand that a command without a brand means; undefined when the target has no default. */
  defaultBrand?: string | undefined;
}

/** Passes the calls to `work` and closes their connections afterwards, even when it fails. */
export async function withBrands<T>(
  context: CommandContext,
  options: BrandOptions,
  work: (target: BrandTarget) => Promise<T>,
): Promise<T> {
  const { settings, about, runtime } = context;
  const { database: secret } = ledgerSecrets(options);
  if (!isGiven(secret) || settings.target !== undefined) {
    const target = await resolveTarget(context);
    const { brands } = clientFor(target, context).control;
    return work({ brands, defaultBrand: target.run?.brands[0]?.brandId });
  }
  // Loaded only here, since it loads the database.
  const { openOfflineBrands } = await import('../../production/offline-brands.ts');
  const { createClient } = await import('../../client/create-client.ts');
  const { hostUrls } = await import('../../client/host-urls.ts');
  const { ledgerAddress } = await import('../../production/offline-ledger.ts');
  const { allowSqlite } = options;
  const offline = await openOfflineBrands(await ledgerAddress({ cwd: runtime.cwd, secret, allowSqlite }));
  about.target = offline.where;
  try {
    const client = createClient({
      urls: hostUrls('http://ledger.invalid'),
      timeoutMs: settings.timeout,
      fetch: offline.fetch,
    });
    return await work({ brands: client.control.brands });
  } finally {
    await offline.close();
  }
}

/** Where brands are managed: at the emulator, or straight in a database of production, by the same calls. */
import type { Client } from '../../client/create-client.ts';
import type { CommandContext } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { clientFor, resolveTarget } from '../service/target.ts';

export interface BrandOptions {
  databaseUrl?: string;
}

interface BrandTarget {
  brands: Client['control']['brands'];
  /** The brand that a command without a brand means; undefined when the target has no default. */
  defaultBrand?: string | undefined;
}

/** Passes the calls to `work` and closes their connections afterwards, even when it fails. */
export async function withBrands<T>(
  context: CommandContext,
  { databaseUrl }: BrandOptions,
  work: (target: BrandTarget) => Promise<T>,
): Promise<T> {
  const { settings, about } = context;
  if (databaseUrl === undefined || settings.target !== undefined) {
    const target = await resolveTarget(context);
    const { brands } = clientFor(target, context).control;
    return work({ brands, defaultBrand: target.run?.brands[0]?.brandId });
  }
  if (!/^postgres(?:ql)?:\/\//i.test(databaseUrl)) {
    throw usageError(
      '--database-url is not the address of a Postgres database.',
      'Give an address that begins with postgres://. To manage the brands of an emulator, start it and leave --database-url out.',
    );
  }
  // Loaded only here, since it loads the database.
  const { openOfflineBrands } = await import('../../production/offline-brands.ts');
  const { createClient } = await import('../../client/create-client.ts');
  const { hostUrls } = await import('../../client/host-urls.ts');
  const offline = await openOfflineBrands(databaseUrl);
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

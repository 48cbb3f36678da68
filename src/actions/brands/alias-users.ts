/** Says that two names of a brand's users are one person: from then on one user with one wallet, for everything that comes. */
import { findConfiguredBrand } from '../../ledger/brands/brand-configuration.ts';
import type { Queries } from '../../ledger/database/database.ts';
import {
  deleteAlias,
  findAlias,
  keysOfUsers,
  listAliases,
  saveAlias,
  type UserAlias,
} from '../../ledger/wallets/aliases.ts';
import { findWallets } from '../../ledger/wallets/wallets.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { SettingProblem } from '../../rules/brands/settings.ts';
import { emailKey } from '../../rules/user-key.ts';
import {
  findNamed,
  invalid,
  type ManageBrandsDeps,
  notFound,
  type Outcome,
  withBrand,
} from './named-brand.ts';

/** An alias with the wallets on both sides; null where there is none yet. */
export interface ShownAlias extends Pick<UserAlias, 'aliasKey' | 'userKey' | 'createdAt'> {
  /** What lies here stays here, and is spent only with its own user's consent. */
  aliasWallet: `0x${string}` | null;
  userWallet: `0x${string}` | null;
}

/** Makes `alias` a name of `user`, both e-mails or stand-in e-mails. What one of them has been paid counts for both. */
export function aliasUser(
  deps: ManageBrandsDeps,
  name: string,
  given: { alias: unknown; user: unknown },
): Promise<Outcome<ShownAlias>> {
  return deps.database.atomically((tx) =>
    withBrand(tx, name, async ({ brandId }) => {
      const linked = await linkUsers(tx, { brandId, ...given, nowMs: deps.clock.now() });
      if ('problem' in linked) return invalid([linked.problem]);
      const [shown] = await withWallets(tx, [linked.alias]);
      if (!shown) throw new Error('an alias was written and is not shown');
      return shown;
    }),
  );
}

/** The same in the caller's commit, which holds the lock on the brand's funds. An alias that is there already stays. */
export async function linkUsers(
  tx: Queries,
  given: { brandId: BrandId; alias: unknown; user: unknown; nowMs: number },
): Promise<{ alias: UserAlias; isNew: boolean } | { problem: SettingProblem }> {
  const { brandId, nowMs: createdAt } = given;
  const aliasKey = keyOf(given.alias);
  const named = keyOf(given.user);
  if (aliasKey === undefined) return { problem: { setting: 'alias', message: EMAIL_EXPECTED } };
  if (named === undefined) return { problem: { setting: 'user', message: EMAIL_EXPECTED } };
  const [userKey] = (await keysOfUsers(tx, [{ brandId, userKey: named }]))({ brandId, userKey: named });
  const before = await findAlias(tx, { brandId, aliasKey });
  if (before?.userKey === userKey) return { alias: before, isNew: false };
  if (userKey === aliasKey)
    return { problem: { setting: 'user', message: `${named} is ${aliasKey} already, or an alias of it` } };
  if (before) {
    const message = `is an alias of ${before.userKey} already; remove that first`;
    return { problem: { setting: 'alias', message } };
  }
  const alias = { brandId, aliasKey, userKey, createdAt };
  await saveAlias(tx, alias);
  return { alias, isNew: true };
}

const EMAIL_EXPECTED =
  'must be an e-mail, or the stand-in e-mail of a platform, such as wordpress_2@ and the domain of this service';
const keyOf = (value: unknown) => (typeof value === 'string' ? emailKey(value) : undefined);

/** Makes the alias a user of its own again. */
export function removeAlias(
  deps: ManageBrandsDeps,
  of: { name: string; alias: string },
): Promise<Outcome<{ removed: string }>> {
  const aliasKey = emailKey(of.alias) ?? of.alias;
  return deps.database.atomically((tx) =>
    withBrand(tx, of.name, async ({ brandId }): Promise<Outcome<{ removed: string }>> => {
      if (await deleteAlias(tx, { brandId, aliasKey })) return { removed: aliasKey };
      return invalid([{ setting: 'alias', message: `${of.alias} is not an alias of this brand` }]);
    }),
  );
}

/** More than these are asked for with `after`. */
const LISTED_MAX = 500;

export async function showAliases(
  { database }: Pick<ManageBrandsDeps, 'database'>,
  name: string,
  after = '',
): Promise<Outcome<{ aliases: ShownAlias[]; more: boolean }>> {
  const { db } = database;
  const brand = await findNamed(db, name);
  if (!brand || !(await findConfiguredBrand(db, brand.brandId))) return notFound(name);
  const found = await listAliases(db, { brandId: brand.brandId, after, limit: LISTED_MAX + 1 });
  const aliases = await withWallets(db, found.slice(0, LISTED_MAX));
  return { aliases, more: found.length > LISTED_MAX };
}

async function withWallets(db: Queries, aliases: UserAlias[]): Promise<ShownAlias[]> {
  const keys = aliases.flatMap(({ aliasKey, userKey }) => [aliasKey, userKey]);
  const wallets = await findWallets(db, [...new Set(keys)]);
  return aliases.map(({ aliasKey, userKey, createdAt }) => ({
    aliasKey,
    userKey,
    createdAt,
    aliasWallet: wallets.get(aliasKey)?.address ?? null,
    userWallet: wallets.get(userKey)?.address ?? null,
  }));
}

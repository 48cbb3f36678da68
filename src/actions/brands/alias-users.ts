/**
 * Says that two names of a brand's users are one person: from then on one user with one wallet, for everything that
 * comes. Operators say so, and events of the brand's own servers.
 */
import { findConfiguredBrand } from '../../ledger/brands/brand-configuration.ts';
import type { StoredBrand } from '../../ledger/brands/brands.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { lockAvailableFunds } from '../../ledger/rewards/funds.ts';
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
import { type EventSubmission, numberedUser } from '../../rules/events/submission.ts';
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

// Learns from events of a brand's own servers which number and which e-mail are one person (`domainUsers`).

interface Learned {
  brand: StoredBrand;
  submission: EventSubmission;
}

/**
 * Links the users of these events, in the caller's commit and before it decides. It asks nothing for events that do not say
 * both, or that came without the brand's key: strangers could name anybody's number beside an e-mail of theirs.
 */
export async function learnAliases(
  tx: Queries,
  of: { events: readonly Learned[]; ownDomain: string | undefined; nowMs: number },
): Promise<void> {
  const { events, ownDomain, nowMs } = of;
  const said = events.flatMap(({ brand, submission }) => {
    const aliasKey = numberedUser(submission, brand.profile, ownDomain);
    return aliasKey === undefined ? [] : [{ brand, aliasKey, user: submission.userKey }];
  });
  if (said.length === 0) return;
  const asked = said.map(({ brand, aliasKey }) => ({ brandId: brand.brandId, userKey: aliasKey }));
  const keysOf = await keysOfUsers(tx, asked);
  const fresh = said.filter(({ brand, aliasKey }) => {
    const [owner] = keysOf({ brandId: brand.brandId, userKey: aliasKey });
    return owner === aliasKey;
  });
  if (fresh.length === 0) return;
  // All of the round, in the order of everybody who pays, before the first is changed.
  await lockAvailableFunds(tx, [...new Set(events.map(({ brand }) => brand.brandId))]);
  for (const { brand, aliasKey: alias, user } of fresh) {
    const linked = await linkUsers(tx, { brandId: brand.brandId, alias, user, nowMs });
    // What is not to be linked is left as it is: the event says by its e-mail who is paid.
    if ('isNew' in linked && linked.isNew) brand.aliases = (brand.aliases ?? 0) + 1;
  }
}

/** Constraints of perks over the control API, and the emulated chat. */
import type { Context, Handler } from 'hono';
import { findNamed } from '../../../actions/brands/named-brand.ts';
import { invalidateResults } from '../../../actions/constraints/invalidate-results.ts';
import { showWallet } from '../../../actions/wallets/show-wallet.ts';
import { checksummed } from '../../../identity/checksum.ts';
import type { BusinessTime, Database } from '../../../ledger/database/database.ts';
import { emulatedStandings, setEmulatedStanding } from '../../../ledger/emulator/chat.ts';
import { findPerk, listPerks } from '../../../ledger/perks/perks.ts';
import type { SettingProblem, Settings } from '../../../rules/brands/settings.ts';
import type { CheckConstraints } from '../../../rules/constraints/constraint.ts';
import { readSettings, refuse } from '../refuse.ts';
import { readCheck, readInvalidation, readStandingChange } from './read-wishes.ts';

export interface ControlConstraintsDeps {
  database: Database;
  businessTime: BusinessTime;
  /** Domain under which users of chat platforms have their stand-in e-mail. */
  ownDomain: string;
  checkConstraints: CheckConstraints;
}

type LedgerDeps = Pick<ControlConstraintsDeps, 'database' | 'businessTime' | 'ownDomain'>;

/** What a ledger knows by itself, without a service that asks brands' servers and chats. */
export function ledgerConstraints(deps: LedgerDeps): Record<string, Handler> {
  const db = () => deps.database.db;
  return {
    async listConstraints(context) {
      const brand = await findNamed(db(), nameIn(context));
      if (!brand) return refuse(context, { code: 'brand_not_found', name: nameIn(context) });
      const { brandId } = brand;
      const perks = (await listPerks(db(), brandId)).filter(({ constraints }) => constraints.length > 0);
      const shown = perks.map(({ id, tokenId, name, constraints }) => ({
        perkId: id,
        tokenId,
        name,
        constraints,
      }));
      return context.json({ brandId, perks: shown });
    },
    invalidateConstraints: (context) => invalidate(deps, context),
  };
}

export function controlConstraints(deps: ControlConstraintsDeps): Record<string, Handler> {
  const db = () => deps.database.db;
  return {
    ...ledgerConstraints(deps),
    checkConstraints: (context) => check(deps, context),
    async listChatStandings(context) {
      const brand = await findNamed(db(), nameIn(context));
      if (!brand) return refuse(context, { code: 'brand_not_found', name: nameIn(context) });
      const { brandId } = brand;
      const standings = (await emulatedStandings(db(), { brandId })).map(standingView);
      return context.json({ brandId, standings });
    },
    setChatStanding: (context) => setStanding(deps, context),
  };
}

const nameIn = (context: Context) => context.req.query('brand') ?? '';

const standingView = (of: { platform: string; userKey: string; level: number; roles: string[] }) => ({
  platform: of.platform,
  user: of.userKey,
  level: of.level,
  roles: of.roles,
});

/** The body, read, and the brand that it names. */
async function wishOf<Wish extends { brand: string }>(
  { database }: Pick<ControlConstraintsDeps, 'database'>,
  context: Context,
  read: (settings: Settings) => Wish | { problems: SettingProblem[] },
) {
  const settings = await readSettings(context);
  if (!settings) return { refused: refuse(context, { code: 'invalid_body' }) };
  const wish = read(settings);
  if ('problems' in wish)
    return { refused: refuse(context, { code: 'invalid_settings', problems: wish.problems }) };
  const brand = await findNamed(database.db, wish.brand);
  if (!brand) return { refused: refuse(context, { code: 'brand_not_found', name: wish.brand }) };
  return { wish, brandId: brand.brandId };
}

async function check(deps: ControlConstraintsDeps, context: Context): Promise<Response> {
  const read = await wishOf(deps, context, readCheck);
  if (read.refused) return read.refused;
  const { brandId, wish } = read;
  const perk = await findPerk(deps.database.db, { brandId, perkId: wish.perk });
  if (!perk) {
    const problems = [{ setting: 'perk', message: `${wish.perk} is not a perk of this brand` }];
    return refuse(context, { code: 'invalid_settings', problems });
  }
  const found = await showWallet(deps, wish.user);
  if (!found) return refuse(context, { code: 'wallet_not_found', user: wish.user });
  const { userKey, address } = found.wallet;
  const buyer = { userKey, address: address.toLowerCase() as `0x${string}` };
  const { id: perkId, tokenId, name, constraints } = perk;
  const missing = await deps.checkConstraints({ brandId, tokenId, constraints, buyer });
  const eligible = missing.length === 0;
  return context.json({ eligible, perkId, name, user: userKey, address: checksummed(address), missing });
}

async function invalidate(deps: LedgerDeps, context: Context): Promise<Response> {
  const read = await wishOf(deps, context, readInvalidation);
  if (read.refused) return read.refused;
  const { brandId, wish } = read;
  const found = wish.user === undefined ? undefined : await showWallet(deps, wish.user);
  if (wish.user !== undefined && !found)
    return refuse(context, { code: 'wallet_not_found', user: wish.user });
  const userAddress = found?.wallet.address.toLowerCase() as `0x${string}` | undefined;
  const { url, tokenId: collectionId } = wish;
  return context.json({
    invalidated: await invalidateResults(deps, { brandId, url, userAddress, collectionId }),
  });
}

async function setStanding(deps: ControlConstraintsDeps, context: Context): Promise<Response> {
  const read = await wishOf(deps, context, readStandingChange);
  if (read.refused) return read.refused;
  const { brandId, wish } = read;
  const found = await showWallet(deps, wish.user);
  if (!found) return refuse(context, { code: 'wallet_not_found', user: wish.user });
  const { platform, level, roles } = wish;
  const change = { ...(level !== undefined && { level }), ...(roles && { roles }) };
  const { userKey } = found.wallet;
  const standing = await deps.database.atomically((tx) =>
    setEmulatedStanding(tx, { brandId, platform, userKey, ...change }),
  );
  return context.json(standingView(standing));
}

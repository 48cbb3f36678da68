/** Constraints of perks over the control API, and the emulated chat. */
import { findNamed } from '../../actions/brands/named-brand.ts';
import { invalidateResults } from '../../actions/constraints/constraint-results.ts';
import { showWallet } from '../../actions/wallets/show-wallet.ts';
import {
  type ChatMembership,
  checkConstraints,
  invalidateConstraints,
  listChatStandings,
  listConstraints,
  setChatStanding,
} from '../../contract/control/constraints.ts';
import type { ControlRefusal } from '../../contract/control/refusals/control-refusals.ts';
import { checksummed } from '../../identity/checksum.ts';
import type { BusinessTime, Database } from '../../ledger/database/database.ts';
import { emulatedStandings, setEmulatedStanding } from '../../ledger/emulator/chat.ts';
import { findPerk, listPerks } from '../../ledger/perks/perks.ts';
import type { CheckConstraints } from '../../rules/constraint.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

export interface ControlConstraintsDeps {
  database: Database;
  businessTime: BusinessTime;
  /** Domain under which users of chat platforms have their stand-in e-mail. */
  ownDomain: string;
  checkConstraints: CheckConstraints;
}

type LedgerDeps = Pick<ControlConstraintsDeps, 'database' | 'businessTime' | 'ownDomain'>;

/** What a ledger knows by itself, without a service that asks brands' servers and chats. */
export const ledgerConstraints = (deps: LedgerDeps): ControlRoute[] => [
  controlHandler(listConstraints, async ({ query: { brand: name } }) => {
    const brand = await findNamed(deps.database.db, name);
    if (!brand) return noBrand(name);
    const { brandId } = brand;
    const perks = (await listPerks(deps.database.db, brandId)).filter(
      ({ constraints }) => constraints.length > 0,
    );
    const shown = perks.map(({ id, tokenId, name, constraints }) => ({
      perkId: id,
      tokenId,
      name,
      constraints: [...constraints],
    }));
    return { brandId, perks: shown };
  }),
  controlHandler(invalidateConstraints, async ({ body: { brand: name, url, user, tokenId } }) => {
    const brand = await findNamed(deps.database.db, name);
    if (!brand) return noBrand(name);
    const found = user === undefined ? undefined : await showWallet(deps, user);
    if (user !== undefined && !found) return noWallet(user);
    const userAddress = found && addressOf(found);
    const { brandId } = brand;
    const which = { brandId, url, userAddress, collectionId: tokenId };
    return { invalidated: await invalidateResults(deps, which) };
  }),
];

export const controlConstraints = (deps: ControlConstraintsDeps): ControlRoute[] => [
  ...ledgerConstraints(deps),
  controlHandler(checkConstraints, async ({ body: { brand: name, perk: perkId, user } }) => {
    const { db } = deps.database;
    const brand = await findNamed(db, name);
    if (!brand) return noBrand(name);
    const { brandId } = brand;
    const perk = await findPerk(db, { brandId, perkId });
    if (!perk) {
      const problems = [{ setting: 'perk', message: `${perkId} is not a perk of this brand` }];
      return { refusal: { code: 'invalid_settings', problems } };
    }
    const found = await showWallet(deps, user);
    if (!found) return noWallet(user);
    const { userKey, address } = found.wallet;
    const buyer = { userKey, address: addressOf(found) };
    const { tokenId, constraints } = perk;
    const missing = await deps.checkConstraints({ brandId, tokenId, constraints, buyer });
    return {
      eligible: missing.length === 0,
      perkId: perk.id,
      name: perk.name,
      user: userKey,
      address: checksummed(address),
      missing: [...missing],
    };
  }),
  controlHandler(listChatStandings, async ({ query: { brand: name } }) => {
    const brand = await findNamed(deps.database.db, name);
    if (!brand) return noBrand(name);
    const { brandId } = brand;
    const standings = await emulatedStandings(deps.database.db, { brandId });
    return { brandId, standings: standings.map(shownStanding) };
  }),
  controlHandler(setChatStanding, async ({ body: { brand: name, user, platform, level, roles } }) => {
    const brand = await findNamed(deps.database.db, name);
    if (!brand) return noBrand(name);
    const found = await showWallet(deps, user);
    if (!found) return noWallet(user);
    const change = { ...(level !== undefined && { level }), ...(roles && { roles }) };
    const whose = { brandId: brand.brandId, platform, userKey: found.wallet.userKey };
    const standing = await deps.database.atomically((tx) => setEmulatedStanding(tx, { ...whose, ...change }));
    return shownStanding(standing);
  }),
];

type Refused = { refusal: ControlRefusal };
const noBrand = (name: string): Refused => ({ refusal: { code: 'brand_not_found', name } });
const noWallet = (user: string): Refused => ({ refusal: { code: 'wallet_not_found', user } });

type FoundWallet = NonNullable<Awaited<ReturnType<typeof showWallet>>>;
const addressOf = ({ wallet }: FoundWallet) => wallet.address.toLowerCase() as `0x${string}`;

const shownStanding = (of: {
  platform: string;
  userKey: string;
  level: number;
  roles: string[];
}): ChatMembership => ({
  platform: of.platform,
  user: of.userKey,
  level: of.level,
  roles: of.roles,
});

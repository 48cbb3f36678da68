/** On whose word a redemption would be paid: what the ledger and the chain know of user, permit and grant, put before the rule. */

import type { ContractAddresses } from '../../chain/contracts/deployment-steps.ts';
import type { createPermitReader, Permit } from '../../chain/contracts/permit.ts';
import type { createCollecting } from '../../chain/contracts/reward-token.ts';
import { addressSpellings } from '../../identity/checksum.ts';
import { findBrand } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import { readGrant } from '../../ledger/perks/grants.ts';
import { isPermitTaken } from '../../ledger/perks/redemptions.ts';
import { ownAccountsAmong } from '../../ledger/transactions/lanes.ts';
import { userKeysAt } from '../../ledger/wallets/wallets.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Hex } from '../../lib/hex.ts';
import type { Brand, BrandId } from '../../rules/brands/brand.ts';
import {
  type Agreement,
  type Asker,
  agreeOn,
  type ConsentRefusal,
  type NamedUser,
  type PermitProblem,
  redemptionsOf,
  refusePermit,
} from '../../rules/perks/consent.ts';

export interface ConsentDeps {
  database: Database;
  contracts: Pick<ContractAddresses, 'token' | 'perks' | 'escrow'>;
  readPermit: ReturnType<typeof createPermitReader>;
  collecting: ReturnType<typeof createCollecting>;
  clock: Pick<Clock, 'now'>;
  /** The service's contracts and accounts, in lower case. */
  ownAddresses: ReadonlySet<string>;
  /** Domain of the stand-in e-mails of chat users. */
  ownDomain: string;
  /** How long a permit must still be valid. */
  permitMarginMs: number;
}

/** `userKeys`: under which the ledger knows the wallet's user. */
export type JudgedConsent = { userKeys: string[] } & ({ agreement: Agreement } | { refusal: ConsentRefusal });

/** What a permit is known by: the signature that only its owner can have made. */
export const permitIdOf = ({ r, s }: Pick<Permit, 'r' | 's'>): Hex => `0x${r.slice(2)}${s.slice(2)}`;

/** Free perks are judged as well: nothing is collected for them, but a brand may want its users' own word. */
export async function judgeConsent(
  deps: ConsentDeps,
  of: { brand: Brand; asker: Asker; permit: Permit | undefined; named: NamedUser; cost: number },
): Promise<JudgedConsent> {
  const { database, ownDomain } = deps;
  const { brand, asker, permit, named, cost } = of;
  const { wallet } = named;
  const redemptions = redemptionsOf(brand.profile);
  const keys = await userKeysAt(database.db, addressSpellings(wallet));
  const userKeys = [...new Set([wallet, ...keys])];
  const [isUser, grant] = await Promise.all([
    isUsersWallet(deps, wallet),
    readGrant(database.db, { brandId: brand.brandId, wallet, userKeys }),
  ]);
  const judged = permit && { problem: await permitProblem(deps, { permit, wallet, cost }) };
  const agreed = agreeOn({ asker, redemptions }, { named, ownDomain, cost, permit: judged, isUser, grant });
  return { userKeys, ...agreed };
}

/** False for a wallet of a brand, of the service itself, of its contracts, or one that pays gas. */
async function isUsersWallet({ database, ownAddresses }: ConsentDeps, wallet: Hex): Promise<boolean> {
  if (ownAddresses.has(wallet)) return false;
  const [own, brand] = await Promise.all([
    ownAccountsAmong(database.db, [wallet]),
    findBrand(database.db, wallet as BrandId),
  ]);
  return own.size === 0 && brand === undefined;
}

async function permitProblem(
  deps: ConsentDeps,
  { permit, wallet, cost }: { permit: Permit; wallet: Hex; cost: number },
): Promise<PermitProblem | undefined> {
  const { database, contracts, collecting, clock, permitMarginMs } = deps;
  if (!(await collecting.takesPermits())) return 'not_supported';
  if (await isPermitTaken(database.db, permitIdOf(permit))) return 'paid_before';
  const standing = await deps.readPermit(permit);
  const escrow = contracts.escrow.toLowerCase() as Hex;
  const holdsUntilMs = clock.now() + permitMarginMs;
  return refusePermit({ permit, standing }, { wallet, escrow, cost, holdsUntilMs });
}

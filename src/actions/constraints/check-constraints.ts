/** Whether a buyer meets what a perk asks beside its price, such as a level in a chat: redeeming and relaying ask here alike. */
import type { ChatMembership, ChatProvider } from '../../constraints/chat-provider.ts';
import { addressSpellings } from '../../identity/checksum.ts';
import type { Database } from '../../ledger/database/database.ts';
import { findPerk } from '../../ledger/perks/perks.ts';
import { userKeysAt } from '../../ledger/wallets/wallets.ts';
import { rootMessage } from '../../lib/failures/root-cause.ts';
import type { Log } from '../../lib/log.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type {
  CheckConstraints,
  ConstrainedPurchase,
  Constraint,
  UnmetConstraint,
} from '../../rules/constraint.ts';
import type { ExternalApi } from './ask-external-api.ts';

interface CheckConstraintsDeps extends MembershipDeps {
  externalApi: ExternalApi;
  /** Whether an account holds at least one of a perk, in the newest block; rejects when no node answers. */
  holdsPerk: (holding: { address: `0x${string}`; tokenId: number }) => Promise<boolean>;
}

/** Undefined: nobody could tell. */
type Standings = readonly ChatMembership[] | undefined;
type Of<Type extends Constraint['type']> = Extract<Constraint, { type: Type }>;

/** All are looked at together, so that the buyer learns of everything that is missing. */
export function createCheckConstraints(deps: CheckConstraintsDeps): CheckConstraints {
  const check = (constraint: Constraint, purchase: ConstrainedPurchase, chat: () => Promise<Standings>) => {
    switch (constraint.type) {
      case 'external_api':
        return externalApi(deps, constraint, purchase);
      case 'has_perk':
        return hasPerk(deps, constraint, purchase);
      default:
        return inChat(constraint, chat);
    }
  };
  return async function checkConstraints(purchase) {
    let asked: Promise<Standings> | undefined;
    const chat = () => {
      asked ??= readMemberships(deps, { ...purchase.buyer, brandId: purchase.brandId });
      return asked;
    };
    const outcomes = await Promise.all(purchase.constraints.map((one) => check(one, purchase, chat)));
    return outcomes.filter((unmet) => unmet !== undefined);
  };
}

async function externalApi(
  deps: CheckConstraintsDeps,
  { type, url, ttlSeconds }: Of<'external_api'>,
  { brandId, tokenId, buyer }: ConstrainedPurchase,
): Promise<UnmetConstraint | undefined> {
  const question = { brandId, url, userAddress: buyer.address, collectionId: tokenId, ttlSeconds };
  const result = await deps.externalApi(question);
  if (!result) {
    const message =
      "The brand's server could not be asked whether you may have this perk: try again in a moment";
    return { type, reason: 'external_api_unavailable', message };
  }
  if (result.isMet) return undefined;
  return {
    type,
    reason: 'external_api_refused',
    message: result.message ?? 'The brand does not offer this perk to you',
  };
}

async function hasPerk(
  { database, holdsPerk }: CheckConstraintsDeps,
  { type, perkId }: Of<'has_perk'>,
  { brandId, buyer }: ConstrainedPurchase,
): Promise<UnmetConstraint | undefined> {
  const needed = await findPerk(database.db, { brandId, perkId });
  if (!needed) {
    const message = `This perk needs the perk ${perkId}, which the brand does not have`;
    return { type, reason: 'perk_unknown', message };
  }
  if (await holdsPerk({ address: buyer.address, tokenId: needed.tokenId })) return undefined;
  return { type, reason: 'perk_missing', message: `This perk is for holders of the perk ${needed.name}` };
}

async function inChat(
  wanted: Of<'chat_level'> | Of<'chat_role'>,
  chat: () => Promise<Standings>,
): Promise<UnmetConstraint | undefined> {
  const { type, platform } = wanted;
  const standings = await chat();
  if (!standings) {
    const message = `It cannot be told at the moment how you stand on ${platform}: try again later`;
    return { type, reason: 'chat_unavailable', message };
  }
  const found = standings.find((one) => one.platform === platform);
  if (wanted.type === 'chat_level') {
    const level = found?.level ?? 0;
    if (level >= wanted.level) return undefined;
    const message = `This perk is for level ${wanted.level} on ${platform}; yours is ${level}`;
    return { type, reason: 'chat_level_too_low', message };
  }
  if (found?.roles.includes(wanted.role)) return undefined;
  const message = `This perk is for the role ${wanted.role} on ${platform}`;
  return { type, reason: 'chat_role_missing', message };
}

// How a buyer stands in a brand's chats, whoever the buyer is known as.

export interface MembershipDeps {
  database: Database;
  /** Absent where the service knows no chat. */
  chat?: ChatProvider | undefined;
  log: Log;
}

/** Undefined when nobody can tell. A buyer of whom only the wallet is known is every user who has it. */
export async function readMemberships(
  { database, chat, log }: MembershipDeps,
  { brandId, address, userKey }: { brandId: BrandId; address: `0x${string}`; userKey?: string | undefined },
): Promise<readonly ChatMembership[] | undefined> {
  if (!chat) return undefined;
  const userKeys =
    userKey === undefined ? await userKeysAt(database.db, addressSpellings(address)) : [userKey];
  try {
    return await chat.standingsOf({ brandId, address, userKeys });
  } catch (error) {
    log.warn({ brandId, error: rootMessage(error) }, 'the chat provider gave no answer');
    return undefined;
  }
}

/** Compares standings: two texts are equal when levels and roles are the same on every platform, in whatever order they came. */
export function membershipText(standings: readonly ChatMembership[] | undefined): string {
  if (!standings) return 'unknown';
  const sorted = standings.map(({ platform, level, roles }) => [platform, level, [...roles].sort()] as const);
  return JSON.stringify(sorted.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** GET perks/{brandId}, and GET perks/metadata/{file}. */
import type { Handler } from 'hono';
import type { OfferedPerk, WantedPerks } from '../../actions/perks/list-perks.ts';
import {
  type PerksResult,
  type PerkTokenResult,
  perksQuestion,
  perkTokenQuestion,
  tokenOfFile,
} from '../../contract/services/perks.ts';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import type { StoredPerk } from '../../ledger/perks/perks.ts';
import { cacheableAnswer, entityTagOf, jsonAnswer } from '../frame/answer.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { askedOf, fieldsOf } from './read-question.ts';

export interface ListPerksHandlerDeps {
  /** `actions/perks/list-perks` with its deps bound. */
  listPerks: (wanted: WantedPerks) => Promise<OfferedPerk[] | undefined>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
}

export function listPerks({ listPerks, refuser }: ListPerksHandlerDeps): Handler<RequestVariables> {
  return async (context) => {
    const question = askedOf(fieldsOf(context), perksQuestion);
    if ('refusal' in question) return refuser.answer(context, question.refusal);
    const { brandId, category, activeOnly, userAddress } = question.asked;
    const wanted = { brandId, activeOnly, userAddress, category: category === 'all' ? undefined : category };
    const perks = await listPerks(wanted);
    if (!perks) return refuser.answer(context, { code: 'brand_not_found', brandId });
    const answer: PerksResult = { success: true, perks: perks.map(perkReply) };
    return jsonAnswer(context, answer);
  };
}

const perkReply = ({ held, ...perk }: OfferedPerk): PerksResult['perks'][number] => {
  const { id, name, description, cost, available, category, image, metadata, active, tokenId } = perk;
  return {
    id,
    name,
    description,
    cost,
    available,
    category,
    image,
    metadata,
    active,
    tokenId,
    ...(held !== undefined && { held }),
  };
};

export interface PerkTokenDeps {
  /** The perk that is this token on chain. */
  findPerkByToken: (tokenId: number) => Promise<StoredPerk | undefined>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
}

/** A changed name or picture shows that much later at most. */
const CACHE_SECONDS = 300;

/** GET perks/metadata/{file}. */
export function perkToken({ findPerkByToken, refuser }: PerkTokenDeps): Handler<RequestVariables> {
  return async (context) => {
    const question = askedOf(fieldsOf(context), perkTokenQuestion);
    if ('refusal' in question) return refuser.answer(context, question.refusal);
    const { file } = question.asked;
    const tokenId = tokenOfFile(file);
    const perk = Number.isSafeInteger(tokenId) ? await findPerkByToken(tokenId) : undefined;
    if (!perk) return refuser.answer(context, { code: 'perk_token_unknown', file });
    const { id: perkId, brandId, name, description, category, cost, image, metadata } = perk;
    const answer: PerkTokenResult = {
      name,
      description,
      decimals: 0,
      ...(image !== null && { image }),
      properties: { brandId, perkId, category, cost, metadata },
    };
    const headers = {
      'content-type': 'application/json',
      'cache-control': `public, max-age=${CACHE_SECONDS}`,
    };
    const text = JSON.stringify(answer);
    return cacheableAnswer(context.req.raw, { text, etag: entityTagOf(text), headers });
  };
}

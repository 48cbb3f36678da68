/** GET perks/{brandId}. */
import type { Handler } from 'hono';
import type { OfferedPerk, WantedPerks } from '../../actions/perks/list-perks.ts';
import { type PerksResult, perksQuestion } from '../../contract/services/perks.ts';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import { jsonAnswer } from '../frame/answer.ts';
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

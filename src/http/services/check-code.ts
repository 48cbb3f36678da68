/** POST perks/check-code and perks/use-code. */
import type { Context, Handler } from 'hono';
import type { CheckedCode } from '../../actions/perks/manage-redemptions.ts';
import { type CodeResult, codeQuestion } from '../../contract/services/check-code.ts';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { jsonAnswer } from '../frame/answer.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { askedOf, bodyFieldsOf, type QuestionSettings } from './read-question.ts';
import { type WriterDeps, writerOf } from './writer.ts';

type Asked = { brandId: BrandId; code: string };

export interface CheckCodeHandlerDeps extends WriterDeps {
  /** `actions/perks/check-code` with its deps bound. */
  checkCode: (asked: Asked) => Promise<CheckedCode | undefined>;
  useCode: (asked: Asked) => Promise<(CheckedCode & { used: boolean }) | undefined>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

export const checkCode = (deps: CheckCodeHandlerDeps): Handler<RequestVariables> =>
  withKey(deps, async (context, asked) => {
    const found = await deps.checkCode(asked);
    if (!found) return deps.refuser.answer(context, { code: 'code_not_found', text: asked.code });
    return jsonAnswer(context, codeReply(found));
  });

export const useCode = (deps: CheckCodeHandlerDeps): Handler<RequestVariables> =>
  withKey(deps, async (context, asked) => {
    const found = await deps.useCode(asked);
    if (!found) return deps.refuser.answer(context, { code: 'code_not_found', text: asked.code });
    const { used, ...redemption } = found;
    if (used) return jsonAnswer(context, codeReply(redemption));
    const usedAt = redemption.usedAt === null ? null : new Date(redemption.usedAt).toISOString();
    return deps.refuser.answer(context, { code: 'code_not_usable', text: asked.code, usedAt });
  });

/** Codes are told to their brand alone: without its key, anybody could try them out. */
const withKey =
  (
    deps: CheckCodeHandlerDeps,
    work: (context: Context<RequestVariables>, asked: Asked) => Promise<Response>,
  ): Handler<RequestVariables> =>
  async (context) => {
    const question = askedOf(await bodyFieldsOf(context, deps.settings), codeQuestion);
    if ('refusal' in question) return deps.refuser.answer(context, question.refusal);
    const { brandId } = question.asked;
    const { keyOf } = await writerOf(deps, context);
    if (keyOf !== brandId) return deps.refuser.answer(context, { code: 'brand_key_required', brandId });
    return work(context, question.asked);
  };

const codeReply = ({ createdAt, usedAt, ...code }: CheckedCode): CodeResult => ({
  success: true,
  ...code,
  createdAt: new Date(createdAt).toISOString(),
  usedAt: usedAt === null ? null : new Date(usedAt).toISOString(),
});

/** POST perks/check-eligibility, perks/redeem, perks/check-code and perks/use-code. */
import type { Context, Handler } from 'hono';
import type { Effect } from '../../actions/answer-once.ts';
import type { JudgedRedemption, WantedRedemption } from '../../actions/perks/judge-redemption.ts';
import type { CheckedCode } from '../../actions/perks/manage-redemptions.ts';
import type { RedeemOutcome } from '../../actions/perks/redeem-perk.ts';
import { type CodeResult, codeQuestion } from '../../contract/services/check-code.ts';
import {
  type PerkEligibilityResult,
  perkQuestion,
  type RedeemResult,
  redeemBody,
} from '../../contract/services/redeem-perk.ts';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { jsonAnswer } from '../frame/answer.ts';
import {
  type AnswerOnce,
  answerKeyed,
  idempotencyKeyOf,
  idempotently,
  type Reply,
} from '../frame/idempotently.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { type AskerDeps, askerOf, type WriterDeps, writerOf } from './asker.ts';
import { askedOf, askedOfUser, bodyFieldsOf, type QuestionSettings } from './read-question.ts';

export interface RedeemHandlerDeps extends AskerDeps {
  /** `actions/perks/judge-redemption` with its deps bound. */
  judgeRedemption: (wanted: WantedRedemption) => Promise<JudgedRedemption>;
  /** `actions/perks/redeem-perk` with its deps bound. */
  redeemPerk: (wanted: WantedRedemption, effect?: Effect) => Promise<RedeemOutcome>;
  answerOnce: AnswerOnce;
  refuser: Refuser<ServicesRefusal>;
  settings: QuestionSettings;
}

export function perkEligibility(deps: RedeemHandlerDeps): Handler<RequestVariables> {
  const { judgeRedemption, refuser, settings } = deps;
  return async (context) => {
    const question = askedOfUser(await bodyFieldsOf(context, settings), perkQuestion, settings);
    if ('refusal' in question) return refuser.answer(context, question.refusal);
    const { brandId, perkId, permit } = question.asked;
    const asking = await askerOf(deps, context, { brandId, withPermit: permit !== undefined });
    if ('refusal' in asking) return refuser.answer(context, asking.refusal);
    const { asker } = asking;
    const judged = await judgeRedemption({ brandId, perkId, ...question.user, asker, permit });
    if (!('perk' in judged)) return refuser.answer(context, judged.refusal);
    const { refusal, userBalance, cost: perkCost } = judged;
    const figures = { userBalance, perkCost };
    if (!refusal)
      return jsonAnswer<PerkEligibilityResult>(context, { success: true, eligible: true, ...figures });
    const { message } = refuser.reply(refusal).body as { message: string };
    const answer: PerkEligibilityResult = {
      success: true,
      eligible: false,
      ...figures,
      reason: message,
      code: refusal.code,
      ...(perkCost > userBalance && { missingAmount: perkCost - userBalance }),
      ...('missing' in refusal && { missing: refusal.missing }),
    };
    return jsonAnswer(context, answer);
  };
}

export function redeemPerk(deps: RedeemHandlerDeps): Handler<RequestVariables> {
  const { refuser, settings } = deps;
  return async (context) => {
    const body = await bodyFieldsOf(context, settings);
    const question = askedOfUser(body, redeemBody, settings);
    if ('refusal' in question) return refuser.answer(context, question.refusal);
    const { brandId, perkId, permit, idempotencyKey } = question.asked;
    const keyed = idempotencyKeyOf(context.req.header('idempotency-key') ?? idempotencyKey);
    if ('problem' in keyed)
      return refuser.answer(context, { code: 'invalid_request', errors: [keyed.problem] });
    const asking = await askerOf(deps, context, { brandId, withPermit: permit !== undefined });
    if ('refusal' in asking) return refuser.answer(context, asking.refusal);
    const { asker, name } = asking;
    // Whoever guesses another caller's key gets nothing of its code.
    const request = {
      scope: `redeem ${brandId} from ${name}`,
      key: keyed.key,
      body: context.get('notes').body ?? '',
    };
    const wanted = { brandId, perkId, ...question.user, asker, permit };
    const answer = await idempotently(deps.answerOnce, request, async (effect) =>
      answerTo(deps, await deps.redeemPerk(wanted, effect)),
    );
    return 'code' in answer ? refuser.answer(context, answer) : answerKeyed(context, answer);
  };
}

function answerTo({ refuser }: RedeemHandlerDeps, outcome: RedeemOutcome): Reply {
  if ('refusal' in outcome) {
    const { status, headers, body } = refuser.reply(outcome.refusal);
    // The next try under the key looks for the redemption, which may come after all.
    const { code } = outcome.refusal;
    const mayCome =
      code === 'redemption_pending' || code === 'redemption_failed' || code === 'redemption_expired';
    return { status, headers, body, kept: mayCome ? 'id' : 'nothing' };
  }
  const { perk, redemption, transactionHash } = outcome.redeemed;
  const { id, name, description, category, image, metadata } = perk;
  const result: RedeemResult = {
    success: true,
    perk: { id, name, description, cost: redemption.cost, category, image, metadata },
    redemptionId: redemption.id,
    confirmationCode: redemption.confirmationCode,
    transactionHash,
  };
  return { status: 200, body: result, kept: 'answer' };
}

type Asked = { brandId: BrandId; code: string };

export interface CheckCodeHandlerDeps extends WriterDeps {
  /** `actions/perks/check-code` with its deps bound. */
  checkCode: (asked: Asked) => Promise<CheckedCode | undefined>;
  useCode: (asked: Asked) => Promise<(CheckedCode & { used: boolean }) | undefined>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

/** POST perks/check-code and perks/use-code. */
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

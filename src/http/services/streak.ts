/** GET streak/status, POST streak/record-activity and POST streak/claim-milestone. */
import type { Handler } from 'hono';
import type { Writer } from '../../actions/engagement/admit-write.ts';
import type { ClaimedMilestone, ClaimMilestoneRefusal } from '../../actions/engagement/claim-milestone.ts';
import type { RecordedActivity, RecordRefusal } from '../../actions/engagement/record-activity.ts';
import type { StreakRequest } from '../../actions/engagement/streak-work.ts';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import {
  type ClaimMilestoneResult,
  claimMilestoneQuestion,
} from '../../contract/services/streak/claim-milestone.ts';
import { placeOf } from '../../contract/services/streak/fields.ts';
import {
  type RecordActivityResult,
  recordActivityQuestion,
} from '../../contract/services/streak/record-activity.ts';
import { type StreakStatusResult, streakStatusQuestion } from '../../contract/services/streak/status.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { StreakStanding } from '../../rules/engagement/streak.ts';
import { jsonAnswer } from '../frame/answer.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { type WriterDeps, writerOf } from './asker.ts';
import { askedOfUser, bodyFieldsOf, fieldsOf, type QuestionSettings } from './read-question.ts';

export interface StreakStatusDeps {
  /** `actions/engagement/read-streak` with its deps bound. */
  readStreak: (key: {
    brandId: BrandId;
    userKey: string;
    streakType: string;
  }) => Promise<StreakStanding | undefined>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

export function streakStatus({ readStreak, refuser, settings }: StreakStatusDeps): Handler<RequestVariables> {
  return async (context) => {
    const question = askedOfUser(fieldsOf(context), streakStatusQuestion, settings);
    if ('refusal' in question) return refuser.answer(context, question.refusal);
    const { brandId, streakType } = question.asked;
    const streak = await readStreak({ brandId, streakType, userKey: question.user.userKey });
    if (!streak) return refuser.answer(context, { code: 'brand_not_found', brandId });
    const { lastActivityAt, graceUsed: _, ...known } = streak;
    const answer: StreakStatusResult = {
      success: true,
      ...known,
      lastActivityAt: lastActivityAt === null ? null : new Date(lastActivityAt).toISOString(),
    };
    return jsonAnswer(context, answer);
  };
}

export interface RecordActivityDeps extends WriterDeps {
  /** `actions/engagement/record-activity` with its deps bound. */
  recordActivity: (request: StreakRequest) => Promise<RecordedActivity | { refusal: RecordRefusal }>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

/** POST streak/record-activity. */
export function recordActivity(deps: RecordActivityDeps): Handler<RequestVariables> {
  const { refuser, settings } = deps;
  return async (context) => {
    const read = await bodyFieldsOf(context, settings);
    const question = askedOfUser(read, recordActivityQuestion, settings);
    if ('refusal' in question) return refuser.answer(context, question.refusal);
    const { brandId, platform, streakType } = question.asked;
    const writer = await writerOf(deps, context);
    const place = placeOf(question.asked, writer.origin);
    const request = { brandId, platform, streakType, writer, place, ...question.user };
    const recorded = await deps.recordActivity(request);
    return 'refusal' in recorded
      ? refuser.answer(context, refusedGrant(recorded.refusal, writer))
      : jsonAnswer(context, recordedBody(recorded));
  };
}

function recordedBody(recorded: RecordedActivity): RecordActivityResult {
  const { isNew, previousStreak, currentStreak, longestStreak, multiplier, totalStreakDays } = recorded;
  const { nextMilestone, unclaimedMilestones, graceUsed, reward } = recorded;
  return {
    success: true,
    isNewActivity: isNew,
    wasNew: isNew,
    previousStreak,
    currentStreak,
    longestStreak,
    multiplier,
    totalStreakDays,
    nextMilestone,
    unclaimedMilestones,
    message: messageOf(recorded),
    streak: { current: currentStreak, longest: longestStreak, multiplier, graceUsed },
    reward,
  };
}

function messageOf({ isNew, currentStreak, reward }: RecordedActivity): string {
  if (!isNew) return 'Already counted today';
  const { final, milestone } = reward;
  const earned = final > 0 ? `: ${final} RWT` : '';
  const reached = milestone ? `, and the milestone of ${milestone.days} days` : '';
  return `Day ${currentStreak} of the streak${earned}${reached}`;
}

export interface ClaimMilestoneDeps extends WriterDeps {
  /** `actions/engagement/claim-milestone` with its deps bound. */
  claimMilestone: (
    request: StreakRequest & { milestoneDays: number },
  ) => Promise<ClaimedMilestone | { refusal: ClaimMilestoneRefusal }>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

/** POST streak/claim-milestone. */
export function claimMilestone(deps: ClaimMilestoneDeps): Handler<RequestVariables> {
  const { refuser, settings } = deps;
  return async (context) => {
    const read = await bodyFieldsOf(context, settings);
    const question = askedOfUser(read, claimMilestoneQuestion, settings);
    if ('refusal' in question) return refuser.answer(context, question.refusal);
    const { brandId, platform, streakType, milestoneDays } = question.asked;
    const writer = await writerOf(deps, context);
    const place = placeOf(question.asked, writer.origin);
    const request = { brandId, platform, streakType, milestoneDays, writer, place, ...question.user };
    const claimed = await deps.claimMilestone(request);
    if ('refusal' in claimed) return refuser.answer(context, refusedGrant(claimed.refusal, writer));
    const { days: milestone, bonus, ...paid } = claimed;
    const answer: ClaimMilestoneResult = { success: true, bonus, bonusRwt: bonus, milestone, ...paid };
    return jsonAnswer(context, answer);
  };
}

const TO_OURSELVES =
  'userIdentifier: must be an account of a user, not one of the service or its contracts, nor the zero address';

/** What a brand has left is told to callers with a key alone. */
function refusedGrant(refusal: RecordRefusal | ClaimMilestoneRefusal, { keyOf }: Writer): ServicesRefusal {
  if (refusal.code === 'paid_to_ourselves') return { code: 'invalid_request', errors: [TO_OURSELVES] };
  if (refusal.code !== 'insufficient_brand_balance') return refusal;
  const { code, required, available } = refusal;
  return { code, required, ...(keyOf !== undefined && { available }) };
}

/** POST streak/record-activity. */
import type { Handler } from 'hono';
import type { RecordedActivity, RecordRefusal } from '../../../actions/engagement/record-activity.ts';
import type { StreakRequest } from '../../../actions/engagement/streak-work.ts';
import type { ServicesRefusal } from '../../../contract/services/refusals.ts';
import { placeOf } from '../../../contract/services/streak/fields.ts';
import {
  type RecordActivityResult,
  recordActivityQuestion,
} from '../../../contract/services/streak/record-activity.ts';
import { jsonAnswer } from '../../frame/answer.ts';
import type { Refuser } from '../../frame/refuse.ts';
import type { RequestVariables } from '../../frame/request-record.ts';
import { askedOfUser, bodyFieldsOf, type QuestionSettings } from '../read-question.ts';
import { type WriterDeps, writerOf } from '../writer.ts';
import { refusedGrant } from './refused-grant.ts';

export interface RecordActivityDeps extends WriterDeps {
  /** `actions/engagement/record-activity` with its deps bound. */
  recordActivity: (request: StreakRequest) => Promise<RecordedActivity | { refusal: RecordRefusal }>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

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

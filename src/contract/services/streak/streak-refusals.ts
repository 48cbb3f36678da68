/** The refusals of streaks: what cannot be counted, claimed or paid. */
import { demo, example } from '../../examples.ts';
import { EXAMPLES_AT_MS, type RefusalRows } from '../../refusals.ts';

export type StreakRefusal =
  | { code: 'automation_disabled'; brandId: string }
  | { code: 'domain_not_authorized'; host: string | undefined; brandId: string; configured: string[] }
  | { code: 'too_many_streak_types'; typesMax: number }
  | { code: 'milestone_unknown'; days: number; known: number[] }
  | { code: 'milestone_not_reached'; days: number; longestStreak: number }
  | { code: 'milestone_claimed'; days: number }
  | { code: 'spend_limit'; span: 'hour' | 'day'; passesAtMs: number | undefined }
  /** `available` is for callers with the brand's key alone. */
  | { code: 'insufficient_brand_balance'; available?: number; required: number }
  | { code: 'payout_failed'; rewardId: string; reason: string };

export const streakRefusals: RefusalRows<StreakRefusal> = {
  automation_disabled: {
    status: 403,
    when: 'the brand has switched rewards off',
    example: { brandId: demo.brandId },
    says: ({ brandId }) => ({
      error: `Automation is disabled for brand ${brandId}`,
      message: 'The brand has switched rewards off; nothing was recorded.',
      details: { reason: 'automation_disabled' },
    }),
  },
  domain_not_authorized: {
    status: 403,
    when: "the activity pays, and comes from a domain that is not the brand's, or names none",
    example: { host: 'elsewhere.example', brandId: demo.brandId, configured: [demo.domain] },
    says: ({ host, brandId, configured }) => ({
      error: `Domain ${host ?? '(none given)'} is not authorized for brand ${brandId}, which is configured for ${configured.join(', ')}`,
      message:
        "Streaks of this type pay, so a report says where it comes from: name the brand's `domain`, as events do, or send the brand's key.",
      details: {
        reason: 'domain_not_authorized',
        domain: host ?? null,
        brandId,
        configuredDomain: configured[0] ?? null,
      },
    }),
  },
  too_many_streak_types: {
    status: 400,
    when: 'the user has streaks of as many types as the service counts',
    example: { typesMax: 20 },
    says: ({ typesMax }) => ({
      error: 'Too many types of streaks',
      message: `The user has ${typesMax} types of streaks with this brand, and no more are counted: send one of them.`,
      details: { reason: 'too_many_streak_types', typesMax },
    }),
  },
  milestone_unknown: {
    status: 400,
    when: 'the brand has no milestone of these days',
    example: { days: 8, known: [7, 30, 100, 365] },
    says: ({ days, known }) => ({
      error: 'Milestone not available',
      message:
        known.length === 0
          ? 'Streaks of this type have no milestones, or the brand has not turned on that streaks pay.'
          : `The brand has no milestone of ${days} days; its milestones are ${known.join(', ')}.`,
      details: { reason: 'milestone_unknown', milestones: known },
    }),
  },
  milestone_not_reached: {
    status: 400,
    when: "the user's streak has not reached the milestone",
    example: { days: 7, longestStreak: 3 },
    says: ({ days, longestStreak }) => ({
      error: 'Milestone not available',
      message: `The user's longest streak is ${longestStreak} of ${days} days.`,
      details: { reason: 'milestone_not_reached', milestoneDays: days, longestStreak },
    }),
  },
  milestone_claimed: {
    status: 400,
    when: 'the user has claimed the milestone',
    example: { days: 7 },
    says: ({ days }) => ({
      error: 'Milestone already claimed',
      message: `The user has the bonus of ${days} days; a milestone pays once.`,
      details: { reason: 'milestone_claimed', milestoneDays: days },
    }),
  },
  spend_limit: {
    status: 429,
    when: "the brand's rewards have come to what it lets them come to in an hour or a day",
    example: { span: 'hour', passesAtMs: EXAMPLES_AT_MS + 1_800_000 },
    passesAtMs: ({ passesAtMs }) => passesAtMs,
    says: ({ span, passesAtMs }) => ({
      error: 'Spend limit reached',
      message: `The brand's rewards have come to what they may in ${span === 'hour' ? 'an hour' : 'a day'}; nothing was recorded.`,
      details: { reason: 'spend_limit', span, ...(passesAtMs === undefined && { retryable: false }) },
    }),
  },
  insufficient_brand_balance: {
    status: 500,
    when: "the brand's escrow does not cover the reward",
    example: { available: 60, required: 100 },
    says: ({ available, required }) => ({
      error: 'Insufficient brand balance',
      message: "The brand's escrow does not cover this reward; nothing was recorded.",
      details: {
        reason: 'insufficient_brand_balance',
        ...(available !== undefined && { available }),
        required,
      },
    }),
  },
  payout_failed: {
    status: 500,
    when: 'the chain refused the payment',
    example: { rewardId: example.eventId, reason: 'reverted' },
    says: ({ reason, rewardId }) => ({
      error: 'Blockchain transaction failed',
      message: 'The reward could not be paid on chain.',
      details: { reason, eventId: rewardId },
    }),
  },
};

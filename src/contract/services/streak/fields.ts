/** The fields that the endpoints of streaks share, the place of an activity among them. */
import { z } from 'zod';
import { canonicalHost, DOMAIN_MAX, type EventOrigin, hostOfUrl } from '../../../rules/brands/domain.ts';
import { DAILY } from '../../../rules/engagement/streak.ts';
import { sanitiseValue } from '../../../rules/sanitise.ts';
import { count, DOMAIN_PROBLEM, hash, instant, OBJECT_PROBLEM, rwt, trimmedText } from '../../shapes.ts';

const TYPE_MAX = 50;
const TYPE_PROBLEM = `must be 1 to ${TYPE_MAX} letters, digits, hyphens and underscores, such as daily`;

/** Which of the user's streaks is meant; types have no case. */
export const streakTypeField = trimmedText(TYPE_PROBLEM)
  .refine((type) => /^[\w-]+$/.test(type) && type.length <= TYPE_MAX, TYPE_PROBLEM)
  .transform((type) => type.toLowerCase())
  .default(DAILY)
  .meta({
    description: `Which of the user's streaks: each type is counted by itself. Types that the brand's \`streakTypes\` do not name pay nothing.`,
    maxLength: TYPE_MAX,
  });

export const milestone = z.object({ days: count(), bonus: rwt() }).meta({ id: 'Milestone' });

/** Where a streak stands. */
export const standingShape = {
  currentStreak: count().meta({ description: 'Days in a row, 0 where the streak has ended.' }),
  longestStreak: count(),
  multiplier: z.number().meta({ description: 'What the streak multiplies check-ins by.' }),
  nextMilestone: milestone.nullable().meta({ description: 'The first that was never reached.' }),
  unclaimedMilestones: z.array(milestone).meta({ description: 'Reached, and their bonus not claimed.' }),
};

/** How the service pays; both absent where it pays nothing. */
export const paidShape = {
  rewardId: z.uuid().optional().meta({ description: "The reward, as the event handler's `events` know it." }),
  transactionHash: hash().nullable().optional().meta({
    description: 'The transaction that pays it; null where the chain is late: it is paid once all the same.',
  }),
};

export const lastActivity = instant().nullable();

/** The same in examples. */
export const exampleStanding = {
  currentStreak: 7,
  longestStreak: 9,
  multiplier: 1.25,
  nextMilestone: { days: 30, bonus: 500 },
  unclaimedMilestones: [{ days: 7, bonus: 100 }],
};

// Where a streak's activity happened: what the domain rule of a brand judges where the activity is paid, as it judges
// events.

/** The contract's limit for the URL of an event. */
const SOURCE_URL_MAX = 2_048;

/** The same fields as an event has, judged the same way. */
export const placeFields = {
  domain: trimmedText()
    .refine((domain) => domain.length <= DOMAIN_MAX, `must have at most ${DOMAIN_MAX} characters`)
    .refine((domain) => canonicalHost(domain) !== undefined, DOMAIN_PROBLEM)
    .meta({
      description:
        'Where it happened, as an event names it: needed where the activity pays, unless `domainless` is `allow` or the brand’s key comes along. When absent, the host of `sourceUrl`, then of the Origin header.',
      maxLength: DOMAIN_MAX,
    })
    .optional(),
  sourceUrl: trimmedText()
    .refine((url) => url.length <= SOURCE_URL_MAX, `must have at most ${SOURCE_URL_MAX} characters`)
    .refine((url) => hostOfUrl(url) !== undefined, 'must be an HTTP or HTTPS URL')
    .meta({ description: 'The page on which it happened: HTTP or HTTPS.', maxLength: SOURCE_URL_MAX })
    .optional(),
  metadata: z
    .record(z.string(), z.unknown(), { error: OBJECT_PROBLEM })
    .transform((metadata) => (sanitiseValue(metadata) ?? {}) as Record<string, unknown>)
    .meta({
      description:
        "Facts about the activity, of which only the brand's accounts on chat platforms count: `bot_username`, `server_id`, `guild_id`, `twitterHandle`, as in an event.",
    })
    .optional(),
};

/** What a request says of its place; `origin` is the header. */
export function placeOf(
  {
    domain,
    sourceUrl,
    metadata = {},
  }: {
    domain?: string | undefined;
    sourceUrl?: string | undefined;
    metadata?: Record<string, unknown> | undefined;
  },
  origin: string | undefined,
): EventOrigin & { metadata: Record<string, unknown> } {
  return {
    domain: domain === undefined ? undefined : canonicalHost(domain),
    sourceUrl,
    origin,
    metadata,
  };
}

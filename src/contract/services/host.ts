/** The services host with all that it offers: what users of a brand have done, earned and can get (docs/engagement.md). */
import { cacheHeaders, hostContract } from '../endpoint.ts';
import { anywhere, refusalBody } from '../shared-refusals.ts';
import { achievementsEndpoint, updateProgressEndpoint } from './achievements.ts';
import { checkCodeEndpoint, useCodeEndpoint } from './check-code.ts';
import { leaderboardEndpoint } from './leaderboard.ts';
import { perksEndpoint, perkTokenEndpoint } from './perks.ts';
import { perkEligibilityEndpoint, redeemPerkEndpoint } from './redeem-perk.ts';
import { type ServicesRefusalCode, servicesRefusals } from './refusals.ts';
import { claimMilestoneEndpoint } from './streak/claim-milestone.ts';
import { recordActivityEndpoint } from './streak/record-activity.ts';
import { streakStatusByQueryEndpoint, streakStatusEndpoint } from './streak/status.ts';
import { updateStatsEndpoint, userStatsEndpoint } from './user-stats.ts';

export const servicesHostContract = hostContract<ServicesRefusalCode>({
  title: 'Rewards: services',
  description: ({ bodyLimitKb }) => [
    "What a brand's pages and bots show to its users, and tell the service about them.",
    `Users are named by an e-mail, an address, or their id on a platform, URL-encoded where it stands in a path. Bodies are JSON of at most ${bodyLimitKb} KB. A field that is null or empty counts as not sent.`,
    "Every path answers OPTIONS. A page may read answers when its origin is one of the brands' domains, a subdomain of one, or the service's own.",
  ],
  tags: [
    { name: 'Users', description: 'What a user has, has earned and has done.' },
    { name: 'Streaks', description: 'Days in a row, what they multiply, and the milestones they reach.' },
    { name: 'Leaderboards', description: 'Who did most in a day, a week, a month, or ever.' },
    { name: 'Achievements', description: 'What users of a brand can reach, and how far they are.' },
    { name: 'Perks', description: 'What a brand offers for RWT.' },
    { name: 'Service', description: "The host's own description." },
  ],
  endpoints: [
    ...[userStatsEndpoint, leaderboardEndpoint, updateStatsEndpoint],
    ...[achievementsEndpoint, updateProgressEndpoint],
    ...[recordActivityEndpoint, streakStatusEndpoint, streakStatusByQueryEndpoint, claimMilestoneEndpoint],
    ...[
      perksEndpoint,
      perkTokenEndpoint,
      perkEligibilityEndpoint,
      redeemPerkEndpoint,
      checkCodeEndpoint,
      useCodeEndpoint,
    ],
  ],
  refusalBody,
  anywhere,
  moreHeaders: cacheHeaders,
  refusals: servicesRefusals,
  securitySchemes: {
    brandKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'A key of the brand, for its own servers. Never put it into a page.',
    },
    userToken: {
      type: 'http',
      scheme: 'bearer',
      description: "An access token of the user, issued by the service's identity provider.",
    },
  },
});

/** Constraints of perks and the emulated chat, as the control API has them. */
import { z } from 'zod';
import { constraintUrlKey, LEVEL_MAX, ROLE_MAX, refuseConstraintUrl } from '../../rules/constraint.ts';
import { knownPlatform, platformName, platformNames } from '../../rules/platforms.ts';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { bodyOf } from './fields.ts';

const text = () =>
  z
    .string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a text') })
    .trim()
    .refine((given) => given !== '', { error: 'must be a text', abort: true });
const brand = () => text().meta({ description: 'Id or domain.' });
const user = () => text().meta({ description: 'An e-mail, an address, or `<platform>:<id there>`.' });
/** A whole number, or one as text. */
const whole = (most: number) => {
  const error = `must be a whole number from 0 to ${most}`;
  return z.preprocess(
    (given) => (typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : given),
    z.int({ error }).refine((number) => number >= 0 && number <= most, { error }),
  ) as unknown as z.ZodInt;
};
/** A chat rarely has more, and they are not written by hand. */
const ROLES_MAX = 100;
const ROLES_MUST_BE = `must be a list of at most ${ROLES_MAX} ids or names of roles`;
const isRole = (role: unknown) => typeof role === 'string' && role !== '' && role.length <= ROLE_MAX;
const body = <S extends z.core.$ZodShape>(shape: S) =>
  bodyOf(shape, `is unknown; there are ${Object.keys(shape).join(', ')}`);
/** The brands of a query: nothing is a brand of no name. */
const noBrand = () => ({ code: 'brand_not_found', name: '' }) as const;

const constrainedPerks = z.object({
  brandId: z.string(),
  perks: z.array(
    z.object({
      perkId: z.uuid(),
      tokenId: z.int().meta({ description: 'The id on chain.' }),
      name: z.string(),
      constraints: z.array(z.unknown()).meta({ description: 'All of them must hold.' }),
    }),
  ),
});

const constraintsVerdict = z.object({
  eligible: z.boolean(),
  perkId: z.uuid(),
  name: z.string(),
  user: z.string(),
  address: z.string(),
  missing: z
    .array(z.object({ type: z.string(), reason: z.string(), message: z.string() }))
    .meta({ description: 'Each constraint that does not hold.' }),
});

const invalidatedResults = z.object({ invalidated: z.int() });

const chatStanding = z.object({
  platform: z.string(),
  user: z.string(),
  level: z.int(),
  roles: z.array(z.string()),
});
const chatStandings = z.object({ brandId: z.string(), standings: z.array(chatStanding) });

const settings = ['invalid_body', 'invalid_settings', 'brand_not_found'] as const;
const url = 'https://api.demo.example/eligible';
const perkId = 'e1e181ae-4528-46a0-be75-39696d3c73b9';
const standing = { platform: 'discord', user: demo.user, level: 5, roles: ['moderator'] };

export const listConstraints = endpoint('GET /constraints', {
  id: 'listConstraints',
  onLedger: true,
  tag: 'Constraints',
  summary: 'The perks of a brand that have constraints',
  query: z.object({ brand: brand() }),
  unfit: noBrand,
  example: { query: { brand: demo.domain } },
  answer: {
    description: 'Perks with their constraints.',
    body: named('ConstrainedPerks', constrainedPerks),
  },
  refusals: ['brand_not_found'],
});

export const checkConstraints = endpoint('POST /constraints/check', {
  id: 'checkConstraints',
  tag: 'Constraints',
  summary: 'Whether a user meets the constraints of a perk',
  description:
    "As a redemption or a purchase by relay would check them: the brand's server is asked unless it has answered within its TTL.",
  body: named(
    'ConstraintsQuestion',
    body({
      brand: brand(),
      perk: z.uuid({
        error: ({ input }) => (input === undefined ? 'is required' : 'must be the id of a perk, a UUID'),
      }),
      user: user(),
    }),
  ),
  undo: 'passes',
  example: { body: { brand: demo.domain, perk: perkId, user: demo.user } },
  answer: { description: 'What is missing.', body: named('ConstraintsVerdict', constraintsVerdict) },
  refusals: [...settings, 'wallet_not_found'],
});

export const invalidateConstraints = endpoint('POST /constraints/invalidate', {
  id: 'invalidateConstraints',
  onLedger: true,
  tag: 'Constraints',
  summary: "Forget what a constraint's URL has said",
  body: named(
    'ConstraintsInvalidation',
    body({
      brand: brand(),
      url: text().transform((given, context) => {
        const refused = refuseConstraintUrl(given);
        if (refused) context.addIssue({ code: 'custom', message: refused, input: given });
        return constraintUrlKey(given) ?? '';
      }),
      user: user().optional(),
      tokenId: whole(Number.MAX_SAFE_INTEGER)
        .optional()
        .meta({ description: 'Only this perk, by its id on chain.' }),
    }),
  ),
  example: { body: { brand: demo.domain, url } },
  answer: {
    description: 'How many results counted until now.',
    body: named('InvalidatedResults', invalidatedResults),
  },
  refusals: [...settings, 'wallet_not_found'],
});

export const listChatStandings = endpoint('GET /chat/standings', {
  id: 'listChatStandings',
  tag: 'Constraints',
  summary: "Levels and roles in a brand's emulated chats",
  query: z.object({ brand: brand() }),
  unfit: noBrand,
  example: { query: { brand: demo.domain } },
  answer: { description: 'By platform and user.', body: named('ChatStandings', chatStandings) },
  refusals: ['brand_not_found'],
});

export const setChatStanding = endpoint('POST /chat/standings', {
  id: 'setChatStanding',
  tag: 'Constraints',
  summary: "Set a user's level or roles in a chat",
  description:
    'As if the chat had changed: checks see it at once, and results that it may have changed are asked again at the next look, every 5 minutes.',
  body: named(
    'ChatStandingChange',
    body({
      brand: brand(),
      platform: text()
        .transform(platformName)
        .refine(knownPlatform, { error: `must be one of ${platformNames.join(', ')}` }),
      user: user(),
      level: whole(LEVEL_MAX).optional(),
      roles: z
        .array(z.string(), { error: ROLES_MUST_BE })
        .refine((roles) => roles.length <= ROLES_MAX && roles.every(isRole), { error: ROLES_MUST_BE })
        .optional()
        .meta({ description: 'All that the user has from now on.' }),
    }).refine(({ level, roles }) => level !== undefined || roles !== undefined, {
      path: ['level'],
      error: 'or roles is required',
    }),
  ),
  example: { body: { brand: demo.domain, ...standing } },
  answer: {
    description: 'How the user stands now.',
    body: named('ChatMembership', chatStanding),
    example: standing,
  },
  refusals: [...settings, 'wallet_not_found'],
});

export const constraintEndpoints = [
  listConstraints,
  checkConstraints,
  invalidateConstraints,
  listChatStandings,
  setChatStanding,
];

export type ConstrainedPerks = AnswerOf<typeof listConstraints>;
export type ConstraintsVerdict = AnswerOf<typeof checkConstraints>;
export type ChatMembership = AnswerOf<typeof setChatStanding>;

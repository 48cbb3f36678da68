/** Constraints of perks and the emulated chat, as the control API has them. */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { endpoint } from './control-endpoint.ts';
import type { ControlRefusalCode } from './refusals.ts';

const brand = () => z.string().meta({ description: 'Id or domain.' });
const user = () => z.string().meta({ description: 'An e-mail, an address, or `<platform>:<id there>`.' });

export const constrainedPerks = z.object({
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

export const constraintsVerdict = z.object({
  eligible: z.boolean(),
  perkId: z.uuid(),
  name: z.string(),
  user: z.string(),
  address: z.string(),
  missing: z
    .array(z.object({ type: z.string(), reason: z.string(), message: z.string() }))
    .meta({ description: 'Each constraint that does not hold.' }),
});

export const invalidatedResults = z.object({ invalidated: z.int() });

export const chatStanding = z.object({
  platform: z.string(),
  user: z.string(),
  level: z.int(),
  roles: z.array(z.string()),
});
export const chatStandings = z.object({ brandId: z.string(), standings: z.array(chatStanding) });

const settings = ['invalid_body', 'invalid_settings', 'brand_not_found'] as const;
const url = 'https://api.demo.example/eligible';
const perkId = 'e1e181ae-4528-46a0-be75-39696d3c73b9';
const standing = { platform: 'discord', user: demo.user, level: 5, roles: ['moderator'] };

export const constraintEndpoints: readonly Endpoint<ControlRefusalCode>[] = [
  endpoint(
    ['get', '/constraints', 'listConstraints', 'Constraints', 'The perks of a brand that have constraints'],
    {
      query: z.object({ brand: brand() }),
      example: { query: { brand: demo.domain } },
      answer: {
        description: 'Perks with their constraints.',
        body: named('ConstrainedPerks', constrainedPerks),
      },
      refusals: ['brand_not_found'],
    },
  ),
  endpoint(
    [
      'post',
      '/constraints/check',
      'checkConstraints',
      'Constraints',
      'Whether a user meets the constraints of a perk',
    ],
    {
      description:
        "As a redemption or a purchase by relay would check them: the brand's server is asked unless it has answered within its TTL.",
      body: named('ConstraintsQuestion', z.object({ brand: brand(), perk: z.uuid(), user: user() })),
      example: { body: { brand: demo.domain, perk: perkId, user: demo.user } },
      answer: { description: 'What is missing.', body: named('ConstraintsVerdict', constraintsVerdict) },
      refusals: [...settings, 'wallet_not_found'],
    },
  ),
  endpoint(
    [
      'post',
      '/constraints/invalidate',
      'invalidateConstraints',
      'Constraints',
      "Forget what a constraint's URL has said",
    ],
    {
      body: named(
        'ConstraintsInvalidation',
        z.object({
          brand: brand(),
          url: z.string(),
          user: user().optional(),
          tokenId: z.int().optional().meta({ description: 'Only this perk, by its id on chain.' }),
        }),
      ),
      example: { body: { brand: demo.domain, url } },
      answer: {
        description: 'How many results counted until now.',
        body: named('InvalidatedResults', invalidatedResults),
      },
      refusals: [...settings, 'wallet_not_found'],
    },
  ),
  endpoint(
    [
      'get',
      '/chat/standings',
      'listChatStandings',
      'Constraints',
      "Levels and roles in a brand's emulated chats",
    ],
    {
      query: z.object({ brand: brand() }),
      example: { query: { brand: demo.domain } },
      answer: { description: 'By platform and user.', body: named('ChatStandings', chatStandings) },
      refusals: ['brand_not_found'],
    },
  ),
  endpoint(
    ['post', '/chat/standings', 'setChatStanding', 'Constraints', "Set a user's level or roles in a chat"],
    {
      description:
        'As if the chat had changed: checks see it at once, and results that it may have changed are asked again at the next look, every 5 minutes.',
      body: named(
        'ChatStandingChange',
        z.object({
          brand: brand(),
          platform: z.string(),
          user: user(),
          level: z.int().optional(),
          roles: z.array(z.string()).optional().meta({ description: 'All that the user has from now on.' }),
        }),
      ),
      example: { body: { brand: demo.domain, ...standing } },
      answer: {
        description: 'How the user stands now.',
        body: named('ChatStanding', chatStanding),
        example: standing,
      },
      refusals: [...settings, 'wallet_not_found'],
    },
  ),
];

const OF_LEDGERS = ['listConstraints', 'invalidateConstraints'];
/** Those that need no running service. */
export const ledgerConstraintEndpoints = constraintEndpoints.filter(({ id }) => OF_LEDGERS.includes(id));

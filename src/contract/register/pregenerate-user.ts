/** POST pregenerate-user (contract: Endpoints, Pregenerated wallet). The rules check the fields. */
import { z } from 'zod';
import { platformNames } from '../../rules/platforms.ts';
import { USERNAME_MAX } from '../../rules/registration.ts';
import { EMAIL_MAX } from '../../rules/user-key.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo, example } from '../examples.ts';
import { address, brandIdMeta, emailMeta } from '../shapes.ts';
import { type RegisterRefusalCode, registerRefusals } from './refusals.ts';

/** Any JSON object: each field is read, and judged, by `rules/registration.ts`. */
export const registrationObject = z.record(z.string(), z.unknown());

const brandId = z.string().meta(brandIdMeta);

/** The names with blanks around them, in the regular expressions of JSON Schema, which have no flag for it. */
const anyCase = (names: readonly string[]) =>
  `^\\s*(?:${names.map((name) => name.replace(/[a-z]/g, (sign) => `[${sign.toUpperCase()}${sign}]`)).join('|')})\\s*$`;

const pregenerateBody = z
  .union([
    z
      .object({
        brand_id: brandId,
        oauth_provider: z.string().meta({
          description: `The platform, in any case: ${platformNames.join(', ')}.`,
          pattern: anyCase(platformNames),
        }),
        oauth_user_id: z.union([z.string(), z.int()]).meta({
          description: "The user's id there, as a text: long numbers lose digits. Case does not count.",
        }),
        oauth_username: z
          .union([z.string().max(USERNAME_MAX), z.int()])
          .nullish()
          .meta({
            description: "The user's name there, if they have one; kept for people, and never compared.",
          }),
      })
      .meta({ id: 'PlatformRegistration' }),
    z
      .object({
        email: z
          .string()
          .max(EMAIL_MAX)
          .meta({ description: 'In place of the account on a platform.', ...emailMeta }),
        brand_id: brandId,
      })
      .meta({ id: 'EmailRegistration' }),
  ])
  .meta({ description: 'Whom the wallet is for.' });

export const pregenerateResult = z.object({
  success: z.literal(true),
  wallet_address: address().meta({ description: "The user's wallet." }),
  idp_user_id: z.uuid().meta({ description: 'Names the user; the same at each call.' }),
  created_new: z.boolean().meta({ description: 'True for the one call that made the wallet.' }),
  message: z.string().meta({ description: 'For people.' }),
});
export type PregenerateResult = z.output<typeof pregenerateResult>;

const { brandId: brand_id } = demo;
const account = { brand_id, oauth_provider: 'discord', oauth_username: 'alice' };
const result = {
  success: true,
  wallet_address: example.walletAddress,
  idp_user_id: example.eventId,
  created_new: true,
  message: 'Wallet created',
};

export const pregenerateUserEndpoint: Endpoint<RegisterRefusalCode> = {
  id: 'pregenerateUser',
  tag: 'Users',
  method: 'post',
  path: '/pregenerate-user',
  prefixed: true,
  summary: 'Give a user a wallet, or tell which one they have',
  description: [
    'The same account on the same platform has one wallet, whichever brand asks and whatever the user is called. Rewards for events that name the user by `{platform, platformUserId}`, or by that e-mail, go to it.',
    'Each brand may create 100 wallets within a minute; a user who has one already does not count.',
  ].join('\n\n'),
  key: { scheme: 'brandKey', required: false },
  body: named('Registration', pregenerateBody),
  examples: [
    { summary: 'A user of Discord', body: { ...account, oauth_user_id: '123456789012345678' } },
    { summary: 'A user by e-mail', body: { email: demo.user, brand_id } },
  ],
  answers: { 200: { description: 'The wallet.', body: named('Wallet', pregenerateResult), example: result } },
  refusals: registerRefusals.codes.filter(
    (code) => code !== 'unknown_endpoint' && code !== 'method_not_allowed',
  ),
};

/** The body of pregenerate-user and its answer (contract: Pregenerated wallet). What the fields must be is said by the rules. */
import { z } from 'zod';
import { oauthProviders, USERNAME_MAX } from '../../rules/registration.ts';
import { EMAIL_MAX } from '../../rules/user-key.ts';
import { brandIdMeta } from '../events/brand-id.ts';

/** Any JSON object: each field is read, and complained about, by `rules/registration.ts`. */
export const registrationObject = z.record(z.string(), z.unknown());

const brandId = z.string().meta(brandIdMeta);

export const pregenerateBody = z
  .union([
    z.object({
      brand_id: brandId,
      oauth_provider: z.enum(oauthProviders).meta({ description: 'The chat platform; any case.' }),
      oauth_user_id: z
        .union([z.string(), z.int()])
        .meta({ description: "The user's id there: digits, as a text, since long numbers lose some." }),
      oauth_username: z
        .string()
        .max(USERNAME_MAX)
        .meta({ description: "The user's name there; kept for people, and never compared." }),
    }),
    z.object({
      email: z.string().max(EMAIL_MAX).meta({ description: 'In place of the account on a platform.' }),
      brand_id: brandId,
    }),
  ])
  .meta({ description: 'Whom the wallet is for.' });

export const pregenerateResult = z.object({
  success: z.literal(true),
  wallet_address: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/)
    .meta({ description: "The user's wallet." }),
  idp_user_id: z.uuid().meta({ description: 'Names the user; the same at each call.' }),
  created_new: z.boolean().meta({ description: 'True for the one call that made the wallet.' }),
  message: z.string().meta({ description: 'For people.' }),
});
export type PregenerateResult = z.output<typeof pregenerateResult>;

/** The constraints of a perk as a zod schema, for files and bodies alike. */
import { z } from 'zod';
import {
  CONSTRAINTS_MAX,
  constraintTypes,
  constraintUrlKey,
  LEVEL_MAX,
  ROLE_MAX,
  TTL_DEFAULT_SECONDS,
  TTL_MAX_SECONDS,
} from '../rules/constraint.ts';
import { knownPlatform, platformName, platformNames } from '../rules/platforms.ts';
import { textAs } from './settings-schema.ts';

const URL_MUST_BE = 'must be an https URL of at most 1,024 characters, without a user name or password in it';
const TTL_MUST_BE = `must be a whole number of seconds from 1 to ${TTL_MAX_SECONDS}`;
const LEVEL_MUST_BE = `must be a whole number from 1 to ${LEVEL_MAX}`;
const ROLE_MUST_BE = `must be the id or name of a role, 1 to ${ROLE_MAX} characters`;

const platform = textAs(`must be one of ${platformNames.join(', ')}`, (text) => {
  const name = platformName(text);
  return knownPlatform(name) ? name : undefined;
});

/** One constraint; `type` says which fields it has. */
export const constraintSchema = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('external_api').describe("The brand's own server answers whether the buyer may buy."),
      url: textAs(URL_MUST_BE, constraintUrlKey).describe('Where it is asked.'),
      ttlSeconds: z
        .int({ error: TTL_MUST_BE })
        .min(1, { error: TTL_MUST_BE })
        .max(TTL_MAX_SECONDS, { error: TTL_MUST_BE })
        .default(TTL_DEFAULT_SECONDS)
        .describe('How long an answer is kept.'),
    }),
    z.strictObject({
      type: z.literal('has_perk').describe('The buyer holds another perk.'),
      perkId: z.uuid({ error: 'must be the id of a perk, a UUID' }).toLowerCase().describe('Which one.'),
    }),
    z.strictObject({
      type: z.literal('chat_level').describe("The buyer's level in the brand's chat."),
      platform,
      level: z
        .int({ error: LEVEL_MUST_BE })
        .min(1, { error: LEVEL_MUST_BE })
        .max(LEVEL_MAX, { error: LEVEL_MUST_BE })
        .describe('At least this one.'),
    }),
    z.strictObject({
      type: z.literal('chat_role').describe("A role in the brand's chat."),
      platform,
      role: z
        .string({ error: ROLE_MUST_BE })
        .trim()
        .min(1, { error: ROLE_MUST_BE })
        .max(ROLE_MAX, { error: ROLE_MUST_BE })
        .describe('Its id or name.'),
    }),
  ],
  { error: `must be a map with the type ${constraintTypes.join(', ')}` },
);

/** All of them must hold (AND). */
export const constraintsSchema = z
  .array(constraintSchema, { error: 'must be a list of constraints' })
  .max(CONSTRAINTS_MAX, { error: `must be at most ${CONSTRAINTS_MAX} constraints` });

/** What a perk may be, as zod schemas: for fixtures and for the bodies of the control API alike. */
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
import { PERK_CATEGORIES } from '../rules/perks/perk.ts';
import { knownPlatform, platformName, platformNames } from '../rules/platforms.ts';
import { inFile, textAs } from './settings-schema.ts';

const DESCRIPTION_MAX = 2_000;
/** The catalogue is one answer: what a brand adds to a perk must not outgrow the perk. */
const METADATA_MAX = 4_000;
const METADATA_MUST_BE = `must be a map of plain values, of at most ${METADATA_MAX} characters as JSON`;
const URL_MAX = 2_048;

const isUrl = (text: string) => text.length <= URL_MAX && /^https?:\/\//i.test(text) && URL.canParse(text);

const URL_MUST_BE = 'must be an https URL of at most 1,024 characters, without a user name or password in it';
const TTL_MUST_BE = `must be a whole number of seconds from 1 to ${TTL_MAX_SECONDS}`;
const LEVEL_MUST_BE = `must be a whole number from 1 to ${LEVEL_MAX}`;
const ROLE_MUST_BE = `must be the id or name of a role, 1 to ${ROLE_MAX} characters`;

const platform = textAs(`must be one of ${platformNames.join(', ')}`, (text) => {
  const name = platformName(text);
  return knownPlatform(name) ? name : undefined;
});

/** One constraint; `type` says which fields it has. */
const constraintSchema = z.discriminatedUnion(
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
const constraintsSchema = z
  .array(constraintSchema, { error: 'must be a list of constraints' })
  .max(CONSTRAINTS_MAX, { error: `must be at most ${CONSTRAINTS_MAX} constraints` });

/** The settings of a perk that can be changed. Amounts are whole RWT; a stock of -1 never runs out. */
export const perkSettings = {
  name: inFile({ kind: 'text', most: 200 }).describe('The name that people read.'),
  description: z
    .string({ error: 'must be a text' })
    .max(DESCRIPTION_MAX, { error: `must be a text of at most ${DESCRIPTION_MAX} characters` })
    .describe('A sentence or two for buyers.'),
  category: inFile({ kind: 'choice', of: PERK_CATEGORIES }).describe('What kind of thing it is.'),
  cost: inFile({ kind: 'whole', least: 1, of: 'RWT' }).describe('RWT for one.'),
  stock: inFile({ kind: 'limit' }).describe(
    'How many are offered in all, those that are sold included; or unlimited.',
  ),
  image: textAs('must be an http or https URL', (text) => (isUrl(text) ? text : undefined)).describe(
    'A picture.',
  ),
  metadata: z
    .record(z.string(), z.unknown(), { error: METADATA_MUST_BE })
    .refine((given) => JSON.stringify(given).length <= METADATA_MAX, { error: METADATA_MUST_BE })
    .describe("The brand's own values, shown to everybody."),
  active: inFile({ kind: 'switch' }).describe('Off: nobody can buy or redeem it.'),
  constraints: constraintsSchema.describe(
    'What a buyer must fulfil, all of it, to redeem the perk or to buy it through the relay.',
  ),
};

const { name, category, cost } = perkSettings;

/** A perk with its names: `id` for programs, `tokenId` on chain. */
export const perkNames = {
  id: z.uuid({ error: 'must be a UUID' }).toLowerCase(),
  tokenId: inFile({ kind: 'whole', least: 1, of: 'its own' }).describe(
    'The perk on chain: its id in the ERC-1155 contract.',
  ),
};

/** A whole perk; what may be left out has its default. */
export const newPerk = {
  name,
  category,
  cost,
  description: perkSettings.description.default(''),
  stock: perkSettings.stock.prefault('unlimited'),
  image: perkSettings.image.optional(),
  metadata: perkSettings.metadata.default({}),
  active: perkSettings.active.default(true),
  constraints: perkSettings.constraints.default([]),
};

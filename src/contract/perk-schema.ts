/** What a perk may be, as zod schemas: for fixtures and for the bodies of the control API alike. */
import { z } from 'zod';
import { PERK_CATEGORIES } from '../rules/perks/perk.ts';
import { constraintsSchema } from './constraint-schema.ts';
import { inFile, textAs } from './settings-schema.ts';

const DESCRIPTION_MAX = 2_000;
/** The catalogue is one answer: what a brand adds to a perk must not outgrow the perk. */
const METADATA_MAX = 4_000;
const METADATA_MUST_BE = `must be a map of plain values, of at most ${METADATA_MAX} characters as JSON`;
const URL_MAX = 2_048;

const isUrl = (text: string) => text.length <= URL_MAX && /^https?:\/\//i.test(text) && URL.canParse(text);

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

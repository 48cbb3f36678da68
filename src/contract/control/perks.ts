/** Perks and their redemptions, as the control API has them. */
import { z } from 'zod';
import type { SettingProblem } from '../../rules/brands/settings.ts';
import { PERK_CATEGORIES } from '../../rules/perks/perk.ts';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { newPerk, perkNames, perkSettings } from '../perk-schema.ts';
import { type AnswerOf, endpoint, type Issues } from './control-endpoint.ts';
import { instant, listLimit, wrongLimit } from './fields.ts';
import type { ControlRefusal } from './refusals/control-refusals.ts';

const managedPerkShape = z.object({
  id: z.string(),
  brandId: z.string(),
  tokenId: z.int().meta({ description: 'The perk on chain.' }),
  name: z.string(),
  description: z.string(),
  category: z.enum(PERK_CATEGORIES),
  cost: z.int().meta({ description: 'Whole RWT.' }),
  stock: z
    .int()
    .meta({ description: 'How many are offered in all, those that are sold included; -1: no limit.' }),
  image: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  active: z.boolean(),
  constraints: z.array(z.record(z.string(), z.unknown())),
  terms: z.enum(['on_chain', 'waiting', 'failed']).meta({
    description: '`waiting`: the contract has not been told of the last change yet; `failed`: it refuses it.',
  }),
  failure: z.string().nullable().meta({ description: 'Why the contract refuses it.' }),
  createdAt: instant(),
});
const managedPerks = z.object({ perks: z.array(managedPerkShape) });

const REDEMPTIONS_MAX = 500;

const shownRedemption = z.object({
  id: z.string(),
  brandId: z.string(),
  perkId: z.string(),
  perkName: z.string().nullable(),
  user: z.string().meta({ description: 'The e-mail, or the address where only that is known.' }),
  wallet: z.string(),
  cost: z.int().meta({ description: 'Whole RWT.' }),
  confirmationCode: z.string(),
  state: z.enum(['pending', 'valid', 'used', 'failed']).meta({
    description: '`pending`: no block shows it yet; `failed`: it came to nothing, and debited nothing.',
  }),
  consent: z.enum(['grant', 'token', 'permit', 'unasked', 'unknown']).meta({
    description:
      "Whose word pays it: the user's token or permit, or what the brand itself has paid them; `unasked`: from before anybody was asked.",
  }),
  failure: z.string().nullable().meta({ description: 'Why it came to nothing.' }),
  refusals: z.int().meta({ description: 'How often the chain refused it while it waited.' }),
  refusal: z.string().nullable().meta({ description: 'What the chain said last.' }),
  nextTryAt: instant()
    .nullable()
    .meta({ description: 'When it is tried again; null where it does not wait for that.' }),
  transactionHash: z.string().nullable(),
  createdAt: instant(),
  usedAt: instant().nullable(),
});
const shownRedemptions = z.object({ redemptions: z.array(shownRedemption) });

const { id, tokenId } = perkNames;
const perkRequest = z.strictObject({
  brand: z.string({ error: 'must be the id or a domain of a brand' }).meta({ description: 'Id or domain.' }),
  id: id.optional().describe('A UUID; made where it is left out.'),
  tokenId: tokenId.optional().describe('Its id in the ERC-1155 contract; by default the next that is free.'),
  ...newPerk,
});
const RESTOCK_MUST_BE = 'must be a whole number, 1 or more';
const perkChange = z
  .strictObject({
    ...z.object(perkSettings).partial().shape,
    image: perkSettings.image.nullable().optional().describe('A picture; null removes it.'),
    restock: z
      .int({ error: RESTOCK_MUST_BE })
      .min(1, { error: RESTOCK_MUST_BE })
      .optional()
      .describe('How many more are offered than before.'),
  })
  .meta({ minProperties: 1, description: 'What is not named stays.' });
const SHOWN_MAX = 60;
const UNKNOWN = `is not a setting of a perk; the settings are ${Object.keys(perkSettings).join(', ')}, restock`;

/** Settings of a perk are as often wrong by what was given as by what they must be: both are said. */
function wrongPerk(issues: Issues): ControlRefusal | undefined {
  if (issues.some(({ path, code }) => path.length === 0 && code === 'invalid_type')) return undefined;
  const problems = issues.flatMap((issue): SettingProblem[] => {
    const at = issue.path.join('.');
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ setting: at ? `${at}.${key}` : key, message: UNKNOWN }));
    if (issue.input === undefined) return [{ setting: at, message: `is missing: ${issue.message}` }];
    const shown = JSON.stringify(issue.input) ?? '';
    const instead = shown.length <= SHOWN_MAX ? `, not ${shown}` : '';
    return [{ setting: at || 'perk', message: `${issue.message}${instead}` }];
  });
  return { code: 'invalid_settings', problems };
}

const perkPath = z.object({ name: z.string().meta({ description: 'Id of the perk, or its token.' }) });
const example = { name: '29fdd1ed-ecad-462e-abb1-d2f25b86fad2' };

export const showPerks = endpoint('GET /perks', {
  id: 'showPerks',
  onLedger: true,
  tag: 'Perks',
  summary: 'What brands offer for RWT',
  query: z.object({ brand: z.string().meta({ description: 'Id or domain; default: all.' }) }).partial(),
  example: { query: { brand: demo.domain } },
  answer: {
    description: 'The perks, active or not, in the order of their tokens.',
    body: named('ManagedPerkList', managedPerks),
  },
  refusals: ['brand_not_found'],
});

export const listRedemptions = endpoint('GET /redemptions', {
  id: 'listRedemptions',
  onLedger: true,
  tag: 'Perks',
  summary: 'What users redeemed, newest first',
  query: z.object({
    brand: z.string().optional().meta({ description: 'Id or domain; default: all.' }),
    waiting: z
      .literal('true', {
        error: ({ input }) => `must be true, or left out, not ${String(input).slice(0, SHOWN_MAX)}`,
      })
      .optional()
      .meta({ description: 'Only those that no transaction carries yet, oldest first.' }),
    limit: listLimit(REDEMPTIONS_MAX),
  }),
  unfit: wrongLimit(REDEMPTIONS_MAX),
  example: { query: { brand: demo.domain } },
  answer: {
    description: 'Each redemption with its code and its transaction.',
    body: named('RedemptionList', shownRedemptions),
  },
  refusals: ['brand_not_found', 'invalid_limit', 'invalid_settings'],
});

export const dropRedemption = endpoint('POST /redemptions/{id}/drop', {
  id: 'dropRedemption',
  onLedger: true,
  tag: 'Perks',
  summary: 'Give up a redemption that waits',
  description:
    'RWT and stock that were kept for it are free again, and its caller is told that it failed. One that a transaction carries is not dropped.',
  path: z.object({ id: z.string().meta({ description: 'Id of the redemption.' }) }),
  example: { path: { id: '019aac5e-7a1b-7c3d-8e9f-0a1b2c3d4e5f' } },
  answer: {
    description: 'The redemption, which has failed.',
    body: named('ManagedRedemption', shownRedemption),
  },
  refusals: ['redemption_not_found', 'redemption_not_waiting'],
});

export const addPerk = endpoint('POST /perks', {
  id: 'addPerk',
  onLedger: true,
  tag: 'Perks',
  summary: 'Offer a perk',
  description: 'It can be had as soon as a block has told the contract of it.',
  status: 201,
  body: named('NewPerk', perkRequest),
  unfit: wrongPerk,
  example: { body: { brand: demo.domain, name: 'Tote bag', category: 'physical', cost: 300, stock: 20 } },
  answer: { description: 'The perk.', body: named('ManagedPerk', managedPerkShape) },
  refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
});

export const setPerk = endpoint('PATCH /perks/{name}', {
  id: 'setPerk',
  onLedger: true,
  tag: 'Perks',
  summary: 'Change a perk, or offer more of it',
  description:
    'Price, stock and whether it is on sale go to the contract as well. A stock is added to or taken from there, so that what is sold meanwhile stays sold.',
  path: perkPath,
  body: named('PerkSettings', perkChange),
  unfit: wrongPerk,
  example: { path: example, body: { restock: 3 } },
  answer: { description: 'The perk as it is now.', body: named('ManagedPerk', managedPerkShape) },
  refusals: ['invalid_body', 'invalid_settings', 'perk_not_found'],
});

export type ManagedPerk = AnswerOf<typeof setPerk>;
export type Redemption = AnswerOf<typeof dropRedemption>;

export const perkEndpoints = [showPerks, listRedemptions, dropRedemption, addPerk, setPerk];

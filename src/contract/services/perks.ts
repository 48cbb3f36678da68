/** GET perks: what a brand offers for RWT. */
import { z } from 'zod';
import { AVAILABLE_UNLIMITED, PERK_CATEGORIES } from '../../rules/perks/perk.ts';
import { addressKey } from '../../rules/user-key.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { brandIdField, count } from '../shapes.ts';
import { ofQuestion, type ServicesRefusalCode } from './refusals.ts';

const SWITCH_MUST_BE = 'must be true or false';
const CATEGORY_MUST_BE = `must be all or one of ${PERK_CATEGORIES.join(', ')}`;
const ADDRESS_MUST_BE = 'must be an address: 0x and 40 hex digits';

const inQuery = {
  category: z
    .enum(['all', ...PERK_CATEGORIES], { error: CATEGORY_MUST_BE })
    .meta({ id: 'PerkCategoryFilter' })
    .default('all')
    .meta({ description: 'Only perks of this category.' }),
  activeOnly: z
    .enum(['true', 'false', '1', '0'], { error: SWITCH_MUST_BE })
    .default('true')
    .transform((text) => text === 'true' || text === '1')
    .meta({
      description: 'With `false`, also perks that cannot be had at present. `1` and `0` mean the same.',
      type: 'boolean',
      enum: undefined,
      default: true,
    }),
  userAddress: z
    .string()
    .transform((text, context) => {
      const address = addressKey(text);
      if (address) return address;
      context.addIssue({ code: 'custom', message: ADDRESS_MUST_BE, input: text });
      return z.NEVER;
    })
    .optional()
    .meta({ description: 'A wallet: each perk then has `held`, how many of it the wallet holds.' }),
};
export const perksQuestion = z.object({ brandId: brandIdField, ...inQuery });

export const perkCategory = z.enum(PERK_CATEGORIES).meta({ id: 'PerkCategory' });
/** The brand's own values. */
export const perkMetadata = z.record(z.string(), z.unknown()).meta({ id: 'PerkMetadata' });

export const perksResult = z.object({
  success: z.literal(true),
  perks: z.array(
    z
      .object({
        id: z.string().meta({ description: 'A UUID, which redeeming asks for.' }),
        name: z.string(),
        description: z.string(),
        cost: count().meta({ description: 'Whole RWT.' }),
        available: count().meta({
          description: `How many can be had now; ${AVAILABLE_UNLIMITED}: there is no limit.`,
        }),
        category: perkCategory,
        image: z.string().nullable(),
        metadata: perkMetadata,
        active: z.boolean(),
        tokenId: z.int().meta({ description: 'The perk on chain, for purchases by relay.' }),
        held: count().optional().meta({ description: 'How many `userAddress` holds.' }),
      })
      .meta({ id: 'Perk' }),
  ),
});
export type PerksResult = z.output<typeof perksResult>;

export const perksEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'listPerks',
  tag: 'Perks',
  method: 'get',
  path: '/perks/{brandId}',
  summary: 'What a brand offers for RWT',
  description:
    'In the order of their tokens. How many can be had is read from the chain, at most a block ago.',
  parameters: [
    { in: 'path', schema: z.object({ brandId: brandIdField }) },
    { in: 'query', schema: z.object(inQuery) },
  ],
  examples: [
    { summary: 'All that can be had', path: { brandId: demo.brandId } },
    {
      summary: 'Of one category',
      path: { brandId: demo.brandId },
      query: { category: 'digital', activeOnly: 'true' },
    },
  ],
  answers: {
    200: {
      description: 'The perks.',
      body: named('PerksResult', perksResult),
      example: {
        success: true,
        perks: [
          {
            id: 'e1b0086d-ebab-4909-9d31-744384225728',
            name: 'Ten percent off',
            description: 'A voucher for the next order.',
            cost: 250,
            available: AVAILABLE_UNLIMITED,
            category: 'digital',
            image: null,
            metadata: { discountPercent: 10 },
            active: true,
            tokenId: 2,
          },
        ],
      },
    },
  },
  refusals: ofQuestion,
};

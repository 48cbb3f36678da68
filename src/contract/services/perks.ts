/** GET perks and GET perks/metadata: what a brand offers for RWT, and what wallets show of it. */
import { z } from 'zod';
import { AVAILABLE_UNLIMITED, PERK_CATEGORIES } from '../../rules/perks/perk.ts';
import { addressKey } from '../../rules/user-key.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { CACHE_HEADER_NAMES } from '../headers.ts';
import { brandIdField, count } from '../shapes.ts';
import { anywhere } from '../shared-refusals.ts';
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

const perkCategory = z.enum(PERK_CATEGORIES).meta({ id: 'PerkCategory' });
/** The brand's own values. */
export const perkMetadata = z.record(z.string(), z.unknown()).meta({ id: 'PerkMetadata' });

const perksResult = z.object({
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

// GET perks/metadata: what wallets and marketplaces show of a perk's token (ERC-1155, metadata).

/** ERC-1155: clients put the token in place of `{id}`, as 64 lower-case hex digits. */
export const PERK_TOKEN_URI = '/perks/metadata/{id}.json';
const FILE = /^[0-9a-fA-F]{64}\.json$/;
const FILE_MUST_BE = 'must be a token as 64 hex digits, and .json';

export const perkTokenQuestion = z.object({
  file: z
    .string()
    .regex(FILE, { error: FILE_MUST_BE })
    .meta({ description: "The perk's token as 64 hex digits, and `.json`." }),
});

/** The token that a file is named after; tokens beyond what a number can say are nobody's. */
export const tokenOfFile = (file: string): number => Number(BigInt(`0x${file.slice(0, 64)}`));

const perkTokenResult = z.object({
  name: z.string(),
  description: z.string(),
  decimals: z.literal(0).meta({ description: 'Nobody holds a part of a perk.' }),
  image: z.string().optional().meta({ description: 'The URL of a picture, where the perk has one.' }),
  properties: z
    .object({
      brandId: z.string(),
      perkId: z.string().meta({ description: 'A UUID, which redeeming asks for.' }),
      category: perkCategory,
      cost: z.int().meta({ description: 'Whole RWT.' }),
      metadata: perkMetadata,
    })
    .meta({ id: 'PerkTokenProperties' }),
});
export type PerkTokenResult = z.output<typeof perkTokenResult>;

const discount = 2;
const inFile = (token: number) => `${token.toString(16).padStart(64, '0')}.json`;

export const perkTokenEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'perkToken',
  tag: 'Perks',
  method: 'get',
  path: '/perks/metadata/{file}',
  summary: 'What a perk is, for wallets and marketplaces',
  description:
    'The metadata JSON of ERC-1155. A token belongs to one perk of one brand, so its id alone names it; perks that cannot be had at present are told too, since people hold them. The contract leads here when it was deployed with `contracts deploy --services-url`. May be kept for five minutes.',
  parameters: [{ in: 'path', schema: perkTokenQuestion }],
  examples: [{ summary: 'Token 2', path: { file: inFile(discount) } }],
  answers: {
    200: {
      description: 'The token.',
      body: named('PerkToken', perkTokenResult),
      headers: CACHE_HEADER_NAMES.filter((name) => name === 'Cache-Control'),
      example: {
        name: 'Ten percent off',
        description: 'A voucher for the next order.',
        decimals: 0,
        properties: {
          brandId: demo.brandId,
          perkId: 'e1b0086d-ebab-4909-9d31-744384225728',
          category: 'digital',
          cost: 250,
          metadata: { discountPercent: 10 },
        },
      },
    },
  },
  refusals: ['invalid_request', 'perk_token_unknown', ...anywhere],
};

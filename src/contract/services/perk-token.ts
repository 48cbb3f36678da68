/** GET perks/metadata: what wallets and marketplaces show of a perk's token (ERC-1155, metadata). */
import { z } from 'zod';
import { CACHE_HEADER_NAMES } from '../caching.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { anywhere } from '../shared-refusals.ts';
import { perkCategory, perkMetadata } from './perks.ts';
import type { ServicesRefusalCode } from './refusals.ts';

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

export const perkTokenResult = z.object({
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

/** POST perks/check-code and perks/use-code: the code that a user shows, for the brand's own servers. */
import { z } from 'zod';
import { readConfirmationCode } from '../../rules/perks/confirmation-code.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { brandIdField, count, trimmedText } from '../shapes.ts';
import { type ServicesRefusalCode, withBody } from './refusals.ts';

const CODE_MUST_BE = 'must be a confirmation code such as 7KQ2-M9XT-4HVC';
const CODE_MAX = 40;

export const codeQuestion = z.object({
  brandId: brandIdField,
  code: trimmedText(CODE_MUST_BE)
    .transform((text, context) => {
      const code = text.length <= CODE_MAX ? readConfirmationCode(text) : undefined;
      if (code !== undefined) return code;
      context.addIssue({ code: 'custom', message: CODE_MUST_BE, input: text });
      return z.NEVER;
    })
    .meta({
      description: 'As the user shows it; case, blanks and hyphens do not matter.',
      maxLength: CODE_MAX,
    }),
});

const state = z.enum(['valid', 'used', 'pending']).meta({
  id: 'CodeState',
  description: '`pending`: no block shows the redemption yet, so nothing may be handed out for it.',
});
export const codeResult = z.object({
  success: z.literal(true),
  state,
  confirmationCode: z.string(),
  redemptionId: z.string(),
  perkId: z.string(),
  perkName: z.string().nullable(),
  user: z.string().meta({ description: "The user's e-mail or address." }),
  cost: count().meta({ description: 'RWT.' }),
  createdAt: z.iso.datetime(),
  usedAt: z.iso.datetime().nullable(),
});
export type CodeResult = z.output<typeof codeResult>;

const example: CodeResult = {
  success: true,
  state: 'valid',
  confirmationCode: '7KQ2-M9XT-4HVC',
  redemptionId: '018f3c5e-7a1b-7c3d-8e9f-0a1b2c3d4e5f',
  perkId: 'e1b0086d-ebab-4909-9d31-744384225728',
  perkName: 'Ten percent off',
  user: demo.user,
  cost: 250,
  createdAt: '2030-01-01T00:00:00.000Z',
  usedAt: null,
};
const body = { brandId: demo.brandId, code: '7KQ2-M9XT-4HVC' };
const ofCode = [...withBody, 'brand_key_required', 'code_not_found'] as const;
const shared = {
  tag: 'Perks',
  method: 'post',
  key: { scheme: 'brandKey', required: true },
  body: named('CodeQuestion', codeQuestion),
} as const;

export const checkCodeEndpoint: Endpoint<ServicesRefusalCode> = {
  ...shared,
  id: 'checkCode',
  path: '/perks/check-code',
  summary: 'Whether a code is good, and for what',
  description: 'Changes nothing. Codes of other brands are unknown.',
  examples: [{ summary: 'A code', body }],
  answers: { 200: { description: 'The redemption.', body: named('CheckedCode', codeResult), example } },
  refusals: ofCode,
};

export const useCodeEndpoint: Endpoint<ServicesRefusalCode> = {
  ...shared,
  id: 'useCode',
  path: '/perks/use-code',
  summary: 'Mark a code as used, once',
  description: 'One caller is told 200, however many ask at once; all others get 409.',
  examples: [{ summary: 'A code', body }],
  answers: {
    200: {
      description: 'It is used from now on.',
      body: named('UsedCode', codeResult),
      example: { ...example, state: 'used', usedAt: '2030-01-01T00:05:00.000Z' },
    },
  },
  refusals: [...ofCode, 'code_not_usable'],
};

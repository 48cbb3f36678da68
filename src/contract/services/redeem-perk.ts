/** POST perks/check-eligibility and perks/redeem: whether a user can have a perk, and the perk itself. */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { demo, example } from '../examples.ts';
import { idempotencyKeyField, idempotencyKeyHeader } from '../headers.ts';
import { permitField } from '../permit.ts';
import { count, hash, trimmedText } from '../shapes.ts';
import { perkMetadata } from './perks.ts';
import { ofRedemption } from './redemption-refusals.ts';
import { ofWrite, type ServicesRefusalCode } from './refusals.ts';
import { userFields } from './user.ts';

/** Ids of perks are UUIDs. */
const PERK_ID_MAX = 64;
const PERK_ID_PROBLEM = 'must be the id of a perk, as GET /perks/{brandId} lists it';

const perkId = trimmedText(PERK_ID_PROBLEM)
  .refine((text) => /^[\w-]+$/.test(text) && text.length <= PERK_ID_MAX, PERK_ID_PROBLEM)
  .meta({ description: 'As GET perks lists it.', maxLength: PERK_ID_MAX });

const permit = permitField.optional().meta({
  description:
    "The user's own permit to the escrow, of the perk's price or more: it pays this redemption, and no other. `consent_required` names token and spender.",
});

export const perkQuestion = z.object({ ...userFields, perkId, permit });
export const redeemBody = z.object({
  ...userFields,
  perkId,
  permit,
  idempotencyKey: idempotencyKeyField.optional().meta({
    description: 'The same as the header, for pages, which cannot send it across origins.',
  }),
});

const eligibility = {
  userBalance: count().meta({
    description: 'RWT that the user can spend: less what their redemptions under way will take.',
  }),
  perkCost: count().meta({ description: 'RWT.' }),
};

export const perkEligibilityResult = z.object({
  success: z.literal(true),
  eligible: z.boolean(),
  reason: z.string().optional().meta({ description: 'Why not, for people.' }),
  code: z
    .string()
    .optional()
    .meta({ description: 'Why not, for programs: the reason that redeeming would give.' }),
  ...eligibility,
  missingAmount: count().optional().meta({ description: 'RWT that the user lacks.' }),
  missing: z
    .array(
      z.object({ type: z.string(), reason: z.string(), message: z.string() }).meta({ id: 'UnmetConstraint' }),
    )
    .optional()
    .meta({ description: 'Constraints that the user does not meet.' }),
});
export type PerkEligibilityResult = z.output<typeof perkEligibilityResult>;

export const redeemResult = z.object({
  success: z.literal(true),
  perk: z
    .object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      cost: count().meta({ description: 'RWT that were collected at most.' }),
      category: z.string(),
      image: z.string().nullable(),
      metadata: perkMetadata,
    })
    .meta({ id: 'BoughtPerk' }),
  redemptionId: z.string(),
  confirmationCode: z.string().meta({ description: 'What the user shows and the brand checks, once.' }),
  transactionHash: hash().meta({
    description: 'The transaction that collected the price and gave the perk.',
  }),
});
export type RedeemResult = z.output<typeof redeemResult>;

const asked = { brandId: demo.brandId, userIdentifier: demo.user, platform: 'web' };
const discount = 'e1b0086d-ebab-4909-9d31-744384225728';

export const perkEligibilityEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'perkEligibility',
  tag: 'Perks',
  method: 'post',
  path: '/perks/check-eligibility',
  summary: 'Whether a user can redeem a perk now, and what is missing',
  description:
    'Changes nothing. What it says may be over a moment later: redeeming decides again. It answers for its caller: asked with a key, a token or a permit, it says what redeeming with that would. A user of whom the brand has heard nothing has 0 RWT.',
  body: named('PerkQuestion', perkQuestion),
  examples: [{ summary: 'A user with an e-mail', body: { ...asked, perkId: discount } }],
  answers: {
    200: {
      description: 'Whether, and why not.',
      body: named('PerkEligibility', perkEligibilityResult),
      example: {
        success: true,
        eligible: false,
        reason: 'Ten percent off costs 250 RWT, and 150 RWT can be spent: 100 are missing.',
        code: 'insufficient_balance',
        userBalance: 150,
        perkCost: 250,
        missingAmount: 100,
      },
    },
  },
  key: { scheme: 'brandKey', or: 'userToken', required: false },
  refusals: [...ofWrite, 'unauthorized', 'identity_unavailable', 'perk_not_found'],
};

export const redeemPerkEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'redeemPerk',
  tag: 'Perks',
  method: 'post',
  path: '/perks/redeem',
  summary: "Redeem a perk for a user's RWT, once",
  description:
    "The price is collected from the user's wallet on chain, once, in the same transaction that takes one from the stock and gives the perk; the answer comes when a block shows it. With an Idempotency-Key, the same request redeems once and gets the same answer. RWT is spent by consent: with the user's access token or their `permit` up to their balance, else, as the brand setting `redemptions` says with the brand's key or by anybody, only what this brand's escrow has paid the user and they have not spent.",
  key: { scheme: 'brandKey', or: 'userToken', required: false },
  parameters: [idempotencyKeyHeader],
  body: named('Redemption', redeemBody),
  examples: [
    {
      summary: 'A user with an e-mail',
      headers: { 'Idempotency-Key': 'redemption-1' },
      body: { ...asked, perkId: 'e1e181ae-4528-46a0-be75-39696d3c73b9' },
    },
  ],
  answers: {
    200: {
      description: 'The perk and its code.',
      body: named('RedeemedPerk', redeemResult),
      example: {
        success: true,
        perk: {
          id: discount,
          name: 'Ten percent off',
          description: 'A voucher for the next order.',
          cost: 250,
          category: 'digital',
          image: null,
          metadata: { discountPercent: 10 },
        },
        redemptionId: '018f3c5e-7a1b-7c3d-8e9f-0a1b2c3d4e5f',
        confirmationCode: '7KQ2-M9XT-4HVC',
        transactionHash: example.transactionHash,
      },
    },
  },
  refusals: [
    ...([...ofWrite, 'unauthorized', 'identity_unavailable'] as const),
    ...([...ofRedemption, 'idempotency_key_reused', 'request_in_progress'] as const),
  ],
};

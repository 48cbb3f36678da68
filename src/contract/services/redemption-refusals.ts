/** What a redemption of a perk is refused for: a part of the error table of the services host. */
import type { UnmetConstraint } from '../../rules/constraints/constraint.ts';
import type { RefusalRows } from '../refusals.ts';

export type RedemptionsRefusal =
  | { code: 'perk_not_found'; perkId: string }
  /** `file`: as the path has it. */
  | { code: 'perk_token_unknown'; file: string }
  | { code: 'perk_not_active'; perk: string }
  | { code: 'perk_price_changing'; perk: string }
  | { code: 'perk_sold_out'; perk: string }
  | { code: 'insufficient_balance'; perk: string; userBalance: number; perkCost: number }
  | { code: 'wallet_missing'; perk: string }
  | { code: 'constraints_not_met'; missing: UnmetConstraint[] }
  | { code: 'redemption_failed'; perk: string; redemptionId: string; reason: string }
  | { code: 'redemption_pending'; redemptionId: string }
  | { code: 'code_not_found'; text: string }
  /** `usedAt`: null while no block shows the redemption. */
  | { code: 'code_not_usable'; text: string; usedAt: string | null };

const perk = 'Ten percent off';
const redemptionId = '018f3c5e-7a1b-7c3d-8e9f-0a1b2c3d4e5f';

/** In the order of the checks. */
export const redemptionRefusals: RefusalRows<RedemptionsRefusal> = {
  perk_not_found: {
    status: 400,
    when: 'the brand has no perk of this id',
    example: { perkId: 'e1b0086d-ebab-4909-9d31-744384225728' },
    says: ({ perkId }) => ({
      error: 'Perk not found',
      message: `The brand has no perk ${perkId}: GET /perks/{brandId} lists them.`,
      details: { reason: 'perk_not_found', perkId },
    }),
  },
  perk_token_unknown: {
    status: 404,
    when: 'no perk has this token',
    example: { file: `${'0'.repeat(62)}63.json` },
    says: ({ file }) => ({
      error: 'Perk not found',
      message: `No perk has the token of ${file}.`,
      details: { reason: 'perk_token_unknown' },
    }),
  },
  perk_not_active: {
    status: 400,
    when: 'the perk cannot be had at present',
    example: { perk },
    says: ({ perk }) => ({
      error: 'Perk not available',
      message: `${perk} cannot be had at present.`,
      details: { reason: 'perk_not_active' },
    }),
  },
  perk_price_changing: {
    status: 400,
    when: "the perk's new price is on its way to the chain, which still has a higher one",
    example: { perk },
    says: ({ perk }) => ({
      error: 'Price is changing',
      message: `The price of ${perk} is being changed: try again in a moment.`,
      details: { reason: 'perk_price_changing' },
    }),
  },
  perk_sold_out: {
    status: 400,
    when: 'none is left, redemptions under way counted',
    example: { perk },
    says: ({ perk }) => ({
      error: 'Perk sold out',
      message: `${perk} is sold out.`,
      details: { reason: 'perk_sold_out' },
    }),
  },
  insufficient_balance: {
    status: 400,
    when: 'the user has less RWT than the perk costs, redemptions under way taken off',
    example: { perk, userBalance: 150, perkCost: 250 },
    says: ({ perk, userBalance, perkCost }) => ({
      error: 'Insufficient balance',
      message: `${perk} costs ${perkCost} RWT, and ${userBalance} RWT can be spent: ${perkCost - userBalance} are missing.`,
      details: {
        reason: 'insufficient_balance',
        ...{ userBalance, perkCost, missingAmount: Math.max(0, perkCost - userBalance) },
      },
    }),
  },
  wallet_missing: {
    status: 400,
    when: 'the perk is free, and the user has no wallet that could hold it',
    example: { perk },
    says: ({ perk }) => ({
      error: 'No wallet',
      message: `The user has no wallet for ${perk}: the first reward gives them one.`,
      details: { reason: 'wallet_missing' },
    }),
  },
  constraints_not_met: {
    status: 400,
    when: 'the brand asks more of a buyer than the price; `details.missing` says what is missing',
    example: {
      missing: [{ type: 'has_perk', reason: 'perk_missing', message: 'Enamel mug is needed first' }],
    },
    says: ({ missing }) => ({
      error: 'Requirements not met',
      message: `${missing.map(({ message }) => message).join('; ')}.`,
      details: { reason: 'constraints_not_met', missing },
    }),
  },
  redemption_failed: {
    status: 400,
    when: 'the chain refused the redemption; nothing was debited',
    example: { perk, redemptionId, reason: 'reverted' },
    says: ({ perk, redemptionId, reason }) => ({
      error: 'Redemption failed',
      message: `${perk} could not be redeemed, and nothing was debited: ${reason}.`,
      details: { reason: 'redemption_failed', redemptionId, why: reason },
    }),
  },
  redemption_pending: {
    status: 500,
    when: 'the chain is late; the redemption is recorded and comes once',
    example: { redemptionId },
    retryAfterSeconds: 2,
    says: ({ redemptionId }) => ({
      error: 'Blockchain transaction delayed',
      message:
        'The redemption is recorded and comes once; the chain has not taken it yet. Ask again with the same Idempotency-Key.',
      details: { reason: 'redemption_pending', redemptionId },
    }),
  },
  code_not_found: {
    status: 404,
    when: 'the brand has no redemption with this code, or it came to nothing',
    example: { text: '7KQ2-M9XT-4HVC' },
    says: ({ text }) => ({
      error: 'Unknown code',
      message: `No redemption of this brand has the code ${text}.`,
      details: { reason: 'code_not_found' },
    }),
  },
  code_not_usable: {
    status: 409,
    when: 'the code was used before, or no block shows its redemption yet',
    example: { text: '7KQ2-M9XT-4HVC', usedAt: '2030-01-01T00:05:00.000Z' },
    says: ({ text, usedAt }) => ({
      error: usedAt === null ? 'Code not ready' : 'Code already used',
      message:
        usedAt === null
          ? `The redemption of ${text} is not on chain yet: try again in a moment.`
          : `The code ${text} was used at ${usedAt}.`,
      details: { reason: 'code_not_usable', usedAt },
    }),
  },
};

/** All of them. */
export const ofRedemption = [
  'perk_not_found',
  'perk_not_active',
  'perk_price_changing',
  'perk_sold_out',
  'insufficient_balance',
  'wallet_missing',
  'constraints_not_met',
  'redemption_failed',
  'redemption_pending',
] as const;

/** What a redemption of a perk is refused for: a part of the error table of the services host. */
import type { UnmetConstraint } from '../../rules/constraint.ts';
import type { PermitProblem } from '../../rules/perks/consent.ts';
import { EXAMPLES_AT_MS, isoInstant, type RefusalRows } from '../refusals.ts';

export type RedemptionsRefusal =
  | { code: 'perk_not_found'; perkId: string }
  /** `file`: as the path has it. */
  | { code: 'perk_token_unknown'; file: string }
  | { code: 'perk_not_active'; perk: string }
  | { code: 'perk_price_changing'; perk: string }
  | { code: 'perk_sold_out'; perk: string }
  | { code: 'insufficient_balance'; perk: string; userBalance: number; perkCost: number }
  | { code: 'wallet_missing'; perk: string }
  | { code: 'not_the_tokens_user' }
  | { code: 'permit_refused'; problem: PermitProblem }
  | {
      code: 'consent_required';
      perk: string;
      perkCost: number;
      collectable: number;
      /** What the user may sign; absent where the contracts take no permit. */
      permit: { token: `0x${string}`; spender: `0x${string}`; value: number } | undefined;
    }
  /** `passesAtMs`: absent where the perk costs more than the whole cap. */
  | {
      code: 'redemption_limit_reached';
      perk: string;
      perkCost: number;
      cap: number;
      left: number;
      passesAtMs: number | undefined;
    }
  | { code: 'constraints_not_met'; missing: UnmetConstraint[] }
  | { code: 'redemption_failed'; perk: string; redemptionId: string; reason: string }
  | { code: 'redemption_expired'; perk: string; redemptionId: string }
  | { code: 'redemption_pending'; redemptionId: string }
  | { code: 'code_not_found'; text: string }
  /** `usedAt`: null while no block shows the redemption. */
  | { code: 'code_not_usable'; text: string; usedAt: string | null };

const perk = 'Ten percent off';
const redemptionId = '018f3c5e-7a1b-7c3d-8e9f-0a1b2c3d4e5f';

/** The text for each reason for which a permit does not pay. */
const permitProblems: { [Problem in PermitProblem]: string } = {
  not_supported: 'the contracts of this service take no permit with a redemption',
  not_of_wallet: "its owner is not the user's wallet",
  wrong_spender: 'its spender is not the escrow',
  too_small: 'its value is below the price of the perk',
  not_signed: "it is not signed by its owner for this token and the owner's present nonce",
  expired: 'its deadline is over, or too near for a block to be made before it',
  used_up: 'it was used already, and what is left of its allowance is below the price',
  paid_before: 'it pays another redemption',
};

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
        userBalance,
        perkCost,
        missingAmount: Math.max(0, perkCost - userBalance),
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
  not_the_tokens_user: {
    status: 403,
    when: 'the access token is that of another user than the one named',
    says: {
      error: 'Not your RWT',
      message:
        'The access token is not that of the user who is named: a token spends the RWT of its own user only.',
      details: { reason: 'not_the_tokens_user' },
    },
  },
  permit_refused: {
    status: 400,
    when: '`permit` does not pay this redemption; `details.why` says which of its checks it fails',
    example: { problem: 'wrong_spender' },
    says: ({ problem }) => ({
      error: 'Permit refused',
      message: `The permit does not pay this redemption: ${permitProblems[problem]}.`,
      details: { reason: 'permit_refused', why: problem },
    }),
  },
  consent_required: {
    status: 403,
    when: 'the brand may not collect so much of this user without their own word; `details.permit` is what they may sign',
    example: {
      perk,
      perkCost: 250,
      collectable: 100,
      permit: {
        token: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
        spender: '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512',
        value: 250,
      },
    },
    says: ({ perk, perkCost, collectable, permit }) => ({
      error: "The user's consent is needed",
      message: `${perk} costs ${perkCost} RWT, and the brand may collect ${collectable} RWT of this user without them: what it has paid them and they have not spent. Send the user's access token as Authorization: Bearer <ACCESS_TOKEN>${permit ? ', or their permit' : ''}.`,
      details: { reason: 'consent_required', perkCost, collectable, ...(permit && { permit }) },
    }),
  },
  redemption_limit_reached: {
    status: 429,
    when: "the token lets no more be collected in this hour without the holders' allowance; a permit of the user passes",
    example: { perk, perkCost: 250, cap: 1_000_000, left: 100, passesAtMs: EXAMPLES_AT_MS + 1_800_000 },
    passesAtMs: ({ passesAtMs }) => passesAtMs,
    says: ({ perk, perkCost, cap, left, passesAtMs }) => ({
      error: 'Redemption limit reached',
      message: `${perk} costs ${perkCost} RWT, and ${left} RWT of ${cap} an hour can still be collected without a permit: ${passesAtMs === undefined ? 'it needs a permit of the user, or a higher cap' : `try again at ${isoInstant(passesAtMs)}`}.`,
      details: { reason: 'redemption_limit_reached', perkCost, cap, left },
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
  redemption_expired: {
    status: 503,
    when: 'the chain did not take the redemption within ten minutes, and it was given up; nothing was debited',
    example: { perk, redemptionId },
    retryAfterSeconds: 60,
    says: ({ perk, redemptionId }) => ({
      error: 'Redemption expired',
      message: `${perk} could not be redeemed in time, and nothing was debited: try again later.`,
      details: { reason: 'redemption_expired', redemptionId },
    }),
  },
  redemption_pending: {
    status: 500,
    when: 'the chain is late; the redemption is recorded and comes once, or is given up after ten minutes',
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
  'not_the_tokens_user',
  'permit_refused',
  'consent_required',
  'redemption_limit_reached',
  'constraints_not_met',
  'redemption_failed',
  'redemption_expired',
  'redemption_pending',
] as const;

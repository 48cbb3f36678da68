/** On whose word callers ask for redemptions: the brand's, a user's token or permit, or those of somebody else. */
import type { Hex } from 'viem';
import type { Permit } from '../../../../src/chain/contracts/permit.ts';
import type { Asker, PermitStanding } from '../../../../src/rules/perks/consent.ts';
import { asking } from '../../../kits/chain/consent.ts';
import { ESCROW, PERK, USERS } from '../model/accounts.ts';
import type { World } from '../world.ts';

/** `permit`: of that number; two requests may come with the same. `of`: who signed it, or whose token it is. */
export type Word =
  | { by: 'key' | 'none' }
  | { by: 'token'; of: Hex }
  | { by: 'permit'; of: Hex; permit: number };

/** Draws the word of the next redemption of this user. */
export function drawWord({ chance, plan, redemptionRequests }: World, user: Hex): Word {
  if (chance.hit(plan.perks.unasked)) return { by: chance.hit(0.5) ? 'key' : 'none' };
  const other = USERS.find((one) => one !== user) ?? user;
  const of = chance.hit(0.1) ? other : user;
  if (chance.hit(0.6)) return { by: 'token', of };
  const number = redemptionRequests.length;
  const used = redemptionRequests.flatMap(({ word }) =>
    word.by === 'permit' && word.of === of ? word.permit : [],
  );
  return { by: 'permit', of, permit: used.length > 0 && chance.hit(0.5) ? chance.one(used) : number };
}

/** Enough for two, so that the chain itself would let a permit pay twice. */
const PERMIT_VALUE = BigInt(2 * PERK.cost);
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;

/** Its signature names its signer and its number. */
export const permitOf = ({ of, permit }: Word & { by: 'permit' }): Permit => ({
  owner: of,
  spender: ESCROW,
  value: PERMIT_VALUE,
  deadlineSeconds: 2n ** 40n,
  v: 27,
  r: word(BigInt(of)),
  s: word(BigInt(permit) + 1n),
});

/** The number of a permit, which its signature has. */
export const numberOf = ({ s }: { s: Hex }): number => Number(BigInt(s) - 1n);

export function askerOf(by: Word): Asker {
  if (by.by === 'token') return asking({ wallets: [by.of] });
  return asking(undefined, { withBrandKey: by.by === 'key', withPermit: by.by === 'permit' });
}

/** What the token of the model says of a permit. */
export function standingOf({ chain }: World, { owner, r, s }: Permit): PermitStanding {
  if (r !== word(BigInt(owner))) return { state: 'not_signed' };
  const left = chain.head.state.perks.allowed.get(`0x${r.slice(2)}${s.slice(2)}`);
  return left === undefined ? { state: 'fresh' } : { state: 'used', allowance: BigInt(left) };
}

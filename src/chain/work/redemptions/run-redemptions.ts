/** The redeem lane: perks for users' RWT. */

import { createTriedLane, type TriedLaneDeps } from '../run-tried-lane.ts';
import { redeemWork } from './redeem-work.ts';

export const createRedemptions = (
  deps: TriedLaneDeps & { perks: `0x${string}`; contracts: readonly `0x${string}`[] },
) =>
  createTriedLane(deps, {
    name: 'redemptions',
    purpose: 'redeem',
    workOf: (of) => redeemWork({ ...of, perks: deps.perks, contracts: deps.contracts }),
  });

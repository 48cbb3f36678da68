/** The redeem lane: perks for users' RWT. */
import { redeemWork } from './redeem-work.ts';
import { createTriedLane, type TriedLaneDeps } from './run-tried-lane.ts';

export const createRedemptions = (deps: TriedLaneDeps & { perks: `0x${string}` }) =>
  createTriedLane(deps, {
    ...{ name: 'redemptions', purpose: 'redeem' },
    workOf: (of) => redeemWork({ ...of, perks: deps.perks }),
  });

/** The mint lane: RWT for payments and operators. */
import { mintWork } from './mint-work.ts';
import { createTriedLane, type TriedLaneDeps } from './run-tried-lane.ts';

export const createMints = (deps: TriedLaneDeps & { pointsSale: `0x${string}` }) =>
  createTriedLane(deps, {
    name: 'mints',
    purpose: 'mint',
    workOf: (of) => mintWork({ ...of, pointsSale: deps.pointsSale }),
  });

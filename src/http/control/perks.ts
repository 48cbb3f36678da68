/** Perks over the control API: the same routes whether an emulator or a database is behind them. */

import * as perks from '../../actions/perks/manage-perks.ts';
import * as redemptions from '../../actions/perks/manage-redemptions.ts';
import { showRedemptions } from '../../actions/perks/manage-redemptions.ts';
import {
  addPerk,
  dropRedemption,
  listRedemptions,
  setPerk,
  showPerks,
} from '../../contract/control/perks.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';
import { managedPerkReply, redemptionReply } from './perk-reply.ts';

export type ControlPerksDeps = perks.ManagePerksDeps;

export const controlPerks = (deps: ControlPerksDeps): ControlRoute[] => [
  controlHandler(showPerks, async ({ query }) => {
    const shown = await perks.showPerks(deps, query.brand);
    return 'refusal' in shown ? shown : { perks: shown.perks.map(managedPerkReply) };
  }),
  controlHandler(listRedemptions, async ({ query: { brand, waiting, limit } }) => {
    const shown = await showRedemptions(deps, { brand, limit, isWaiting: waiting === 'true' });
    return 'refusal' in shown ? shown : { redemptions: shown.redemptions.map(redemptionReply) };
  }),
  controlHandler(dropRedemption, async ({ path }) => {
    const dropped = await redemptions.dropRedemption(deps, path.id);
    return 'refusal' in dropped ? dropped : redemptionReply(dropped);
  }),
  controlHandler(addPerk, async ({ body: { brand, ...perk } }) => {
    const added = await perks.addPerk(deps, brand, perk);
    return 'refusal' in added ? added : managedPerkReply(added);
  }),
  controlHandler(setPerk, async ({ path, body }) => {
    const changed = await perks.changePerk(deps, path.name, body);
    return 'refusal' in changed ? changed : managedPerkReply(changed);
  }),
];

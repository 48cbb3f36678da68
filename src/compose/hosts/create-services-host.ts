/** Builds the services host from adapters that the caller has picked. */
import { readUserStats } from '../../actions/engagement/read-user-stats.ts';
import { listPerks } from '../../actions/perks/list-perks.ts';
import type { PerkContract } from '../../chain/contracts/calls/perk-stock.ts';
import type { RewardToken } from '../../chain/contracts/reward-token.ts';
import { servicesRefusals } from '../../contract/services/refusals.ts';
import { createRefuser } from '../../http/frame/refuse.ts';
import { createServicesHost, type ServicesHostDeps } from '../../http/services/host.ts';

/** Everything that the services host does. */
export function createServices(deps: {
  frame: Omit<ServicesHostDeps, 'settings' | 'refuser' | 'readUserStats' | 'listPerks'>;
  token: RewardToken;
  perks: PerkContract;
  hostSettings: ServicesHostDeps['settings'];
}) {
  const { frame, token, perks, hostSettings } = deps;
  const { database, clock } = frame;
  return createServicesHost({
    ...frame,
    readUserStats: (wanted) => readUserStats({ database, token }, wanted),
    listPerks: (wanted) => listPerks({ database, perks }, wanted),
    refuser: createRefuser(servicesRefusals, { clock }),
    // The host's paths stand without the prefix.
    settings: { ...hostSettings, apiPrefix: '' },
  });
}

/** Builds the services host from adapters that the caller has picked. */
import { readUserStats } from '../../actions/engagement/read-user-stats.ts';
import type { RewardToken } from '../../chain/contracts/reward-token.ts';
import { servicesRefusals } from '../../contract/services/refusals.ts';
import { createRefuser } from '../../http/frame/refuse.ts';
import { createServicesHost, type ServicesHostDeps } from '../../http/services/host.ts';

/** Everything that the services host does. */
export function createServices(deps: {
  frame: Omit<ServicesHostDeps, 'settings' | 'refuser' | 'readUserStats'>;
  token: RewardToken;
  hostSettings: ServicesHostDeps['settings'];
}) {
  const { frame, token, hostSettings } = deps;
  const { database, clock } = frame;
  return createServicesHost({
    ...frame,
    readUserStats: (wanted) => readUserStats({ database, token }, wanted),
    refuser: createRefuser(servicesRefusals, { clock }),
    // The host's paths stand without the prefix.
    settings: { ...hostSettings, apiPrefix: '' },
  });
}

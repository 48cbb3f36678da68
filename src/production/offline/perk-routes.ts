/** The perks of a production ledger: the control API's routes without a server. */
import { perkEndpoints } from '../../contract/control/perks.ts';
import { controlPerks } from '../../http/control/perks/control-perks.ts';
import { systemClock } from '../../lib/clock.ts';
import { secureRandom } from '../../lib/ids.ts';
import { type ControlRoutes, controlRoutes } from './control-routes.ts';
import type { OpenLedger } from './open-ledger.ts';
import { type OwnReach, publicReach } from './public-reach.ts';

/** `reach`: what the operator names for `start` too. A running service finds by itself what the contract is to be told. Throws what `controlRoutes` throws. */
export function perkRoutes(ledger: OpenLedger, reach: OwnReach): Promise<ControlRoutes> {
  const clock = systemClock();
  const handlers = controlPerks({
    ...{ database: ledger.database, clock, random: secureRandom(clock) },
    reach: publicReach(reach),
  });
  return controlRoutes(ledger, { title: 'Perks', endpoints: perkEndpoints, handlers });
}

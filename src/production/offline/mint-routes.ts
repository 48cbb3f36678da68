/** Mints by hand on a production ledger: the control API's route without a server; the running service sends them. */
import { mintEndpoints } from '../../contract/control/endpoints.ts';
import { controlMints } from '../../http/control/mints.ts';
import { systemClock } from '../../lib/clock.ts';
import { secureRandom } from '../../lib/ids.ts';
import { type ControlRoutes, controlRoutes } from './control-routes.ts';
import type { OpenLedger } from './open-ledger.ts';

/** Throws what `controlRoutes` throws. */
export function mintRoutes(ledger: OpenLedger): Promise<ControlRoutes> {
  const clock = systemClock();
  const handlers = controlMints({ database: ledger.database, clock, random: secureRandom(clock) });
  return controlRoutes(ledger, { title: 'Mints', endpoints: mintEndpoints, handlers });
}

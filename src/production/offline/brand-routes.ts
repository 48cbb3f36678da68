/** The brands of a production ledger: the control API's routes without a server. */
import { settings } from '../../compose/config.ts';
import { brandEndpoints } from '../../contract/control/endpoints.ts';
import { controlBrands } from '../../http/control/brands.ts';
import { systemClock } from '../../lib/clock.ts';
import { secureRandom } from '../../lib/ids.ts';
import { type ControlRoutes, controlRoutes } from './control-routes.ts';
import type { OpenLedger } from './open-ledger.ts';

/** Throws what `controlRoutes` throws. */
export function brandRoutes(ledger: OpenLedger): Promise<ControlRoutes> {
  const clock = systemClock();
  const handlers = controlBrands({
    database: ledger.database,
    clock,
    random: secureRandom(clock),
    serviceName: settings.serviceName,
    keyEnvironment: 'live',
    loopbackDomains: false,
    defaultsFor: 'production',
    maySeeSecrets: () => true,
  });
  return controlRoutes(ledger, { title: 'Brands', endpoints: brandEndpoints, handlers });
}

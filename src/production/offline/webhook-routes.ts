/** The webhooks of a production ledger: the control API's routes without a server. */
import { webhookEndpoints } from '../../contract/control/webhooks.ts';
import { controlWebhooks } from '../../http/control/webhooks/control-webhooks.ts';
import { systemClock } from '../../lib/clock.ts';
import { secureRandom } from '../../lib/ids.ts';
import { type ControlRoutes, controlRoutes } from './control-routes.ts';
import type { OpenLedger } from './open-ledger.ts';
import { type OwnReach, publicReach } from './public-reach.ts';

/**
 * `reach`: what the operator names for `start` too. A running service finds what is due by itself. Throws what
 * `controlRoutes` throws.
 */
export function webhookRoutes(ledger: OpenLedger, reach: OwnReach): Promise<ControlRoutes> {
  const handlers = controlWebhooks({
    database: ledger.database,
    businessTime: () => ledger.database.now,
    random: secureRandom(systemClock()),
    reach: publicReach(reach),
  });
  return controlRoutes(ledger, { title: 'Webhooks', endpoints: webhookEndpoints, handlers });
}

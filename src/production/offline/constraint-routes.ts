/** Constraints of a production ledger's perks: the control API's routes without a server. */
import { ledgerConstraintEndpoints } from '../../contract/control/constraints.ts';
import { ledgerConstraints } from '../../http/control/constraints/control-constraints.ts';
import { type ControlRoutes, controlRoutes } from './control-routes.ts';
import type { OpenLedger } from './open-ledger.ts';

/**
 * A running service goes by the same results, so that what is forgotten here is asked again there. `ownDomain`: as `start` has
 * it. Throws what `controlRoutes` throws.
 */
export function constraintRoutes(ledger: OpenLedger, ownDomain: string): Promise<ControlRoutes> {
  const { database } = ledger;
  const handlers = ledgerConstraints({ database, ownDomain, businessTime: () => database.now });
  return controlRoutes(ledger, { title: 'Constraints', endpoints: ledgerConstraintEndpoints, handlers });
}

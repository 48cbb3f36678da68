/** The service on Anvil with blocks of a second and nothing in them, as a group of loads finds it. */
import { brandsOf, startChain } from '../setup/chain.ts';
import { startIdentity } from '../setup/relay-users.ts';
import type { Scope } from '../setup/scope.ts';
import { type ServicePlan, startMeasuredService } from '../setup/service.ts';
import type { Plan } from './plan.ts';
import { eventsOf } from './subjects.ts';

/** Everything ends with the scope. Without `postgres`, an empty database, the ledger is a SQLite file. */
export async function startOnAnvil(
  { folder, started }: Scope,
  plan: Plan,
  on: Pick<ServicePlan, 'postgres' | 'processes'> = {},
) {
  const brands = brandsOf(plan.brands);
  const chain = await started(startChain());
  const identity = await started(startIdentity());
  const service = await started(
    startMeasuredService(chain, { ...on, folder, brands, identity: identity.env, profile: plan.profile }),
  );
  return { brands, chain, identity, service, subject: eventsOf(service, { chain, brands }) };
}

/** The event handler host: its endpoints and what each of them uses (contract: Endpoints). */
import type { Hono } from 'hono';
import { eventsHostContract } from '../../contract/events/host.ts';
import { type AddressGateDeps, addressGate } from '../frame/address-gate.ts';
import { createHostFrame, type HostFrameDeps } from '../frame/host-frame.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { type BulkEventsDeps, bulkEvents } from './bulk-events.ts';
import { type CheckEligibilityDeps, checkEligibilityHandler } from './check-eligibility.ts';
import { clientScriptPath, createClientScript } from './client-script.ts';
import { type CreateCheckoutDeps, createCheckoutHandler } from './create-checkout.ts';
import { type EventConfigDeps, eventConfig } from './event-config.ts';
import { type EventStateDeps, eventState } from './event-state.ts';
import { type InvalidateExternalApiDeps, invalidateExternalApi } from './invalidate-external-api.ts';
import { type ManualEventDeps, manualEvent } from './manual-event.ts';
import { type PaymentMintDeps, paymentMint } from './payment-mint.ts';
import { type StatusDeps, statusHandlers } from './status.ts';
import { type UserBalanceDeps, userBalance } from './user-balance.ts';
import { type VerifyDnsHandlerDeps, verifyDnsHandler } from './verify-dns.ts';

type EventsHostDeps = HostFrameDeps &
  AddressGateDeps &
  ManualEventDeps &
  BulkEventsDeps &
  CheckEligibilityDeps &
  CreateCheckoutDeps &
  EventConfigDeps &
  EventStateDeps &
  InvalidateExternalApiDeps &
  PaymentMintDeps &
  StatusDeps &
  UserBalanceDeps &
  VerifyDnsHandlerDeps;

export function createEventsHost(deps: EventsHostDeps): Hono<RequestVariables> {
  const { apiPrefix } = deps.settings;
  const balance = userBalance(deps);
  const script = createClientScript({ path: clientScriptPath(), apiPrefix });
  return createHostFrame(deps, {
    name: 'events',
    contract: eventsHostContract,
    refuse: deps.refuser.answer,
    gate: addressGate(deps, deps.refuser.answer),
    handlers: {
      manualEvent: manualEvent(deps),
      bulkEvents: bulkEvents(deps),
      checkEligibility: checkEligibilityHandler(deps),
      eventConfig: eventConfig(deps),
      eventState: eventState(deps),
      createCheckout: createCheckoutHandler(deps),
      paymentMint: paymentMint(deps),
      clientScript: (context) => script.serve(context.req.raw),
      userBalance: balance.get,
      userBalanceByBody: balance.post,
      invalidateExternalApi: invalidateExternalApi(deps),
      verifyDns: verifyDnsHandler(deps),
      ...statusHandlers(deps),
    },
  });
}

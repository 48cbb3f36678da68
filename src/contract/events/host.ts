/** The event handler host with all that it offers (contract: Endpoints). */
import { cacheHeaders, hostContract } from '../endpoint.ts';
import { anywhere, refusalBody } from '../shared-refusals.ts';
import { bulkEventsEndpoint } from './bulk-events.ts';
import { checkEligibilityEndpoint } from './check-eligibility.ts';
import { clientScriptEndpoint } from './client-script.ts';
import { createCheckoutEndpoint } from './create-checkout.ts';
import { eventConfigEndpoint } from './event-config.ts';
import { eventStateEndpoint } from './event-state.ts';
import { invalidateExternalApiEndpoint } from './invalidate-external-api.ts';
import { manualEventEndpoint } from './manual-event.ts';
import { paymentMintEndpoint } from './payment-mint.ts';
import { type EventsRefusalCode, eventsRefusals } from './refusals.ts';
import { debugEndpoint, diagnosticEndpoint, healthEndpoint } from './status.ts';
import { userBalanceByBodyEndpoint, userBalanceEndpoint } from './user-balance.ts';
import { verifyDnsEndpoint } from './verify-dns.ts';

export const eventsHostContract = hostContract<EventsRefusalCode>({
  title: 'Rewards: event handler',
  description: ({ bodyLimitKb }) => [
    "Takes customer events of brands, checks them against the brand's rules, and pays reward tokens (RWT) on chain to the user's wallet, which is created when the user has none.",
    `Bodies are JSON of at most ${bodyLimitKb} KB. In texts, control characters are removed, and an optional field that is null or empty counts as not sent.`,
    "Every path answers OPTIONS. A page may read answers when its origin is one of the brands' domains, a subdomain of one, or the service's own; `Access-Control-Allow-Origin` then names exactly that origin.",
  ],
  tags: [
    {
      name: 'Events',
      description: 'Sending customer events, and the configuration by which pages detect them.',
    },
    { name: 'Users', description: 'What a user holds and has earned.' },
    { name: 'Payments', description: 'Buying RWT, and minting what was paid for.' },
    {
      name: 'Constraints',
      description: 'What buyers of a perk must fulfil, as far as it is kept here.',
    },
    { name: 'Brands', description: "Proving that a domain is a brand's." },
    { name: 'Service', description: 'How the service is doing, and its own description.' },
  ],
  endpoints: [
    manualEventEndpoint,
    bulkEventsEndpoint,
    eventStateEndpoint,
    eventConfigEndpoint,
    checkEligibilityEndpoint,
    clientScriptEndpoint,
    userBalanceEndpoint,
    userBalanceByBodyEndpoint,
    createCheckoutEndpoint,
    paymentMintEndpoint,
    invalidateExternalApiEndpoint,
    verifyDnsEndpoint,
    healthEndpoint,
    diagnosticEndpoint,
    debugEndpoint,
  ],
  refusalBody,
  anywhere,
  moreHeaders: cacheHeaders,
  refusals: eventsRefusals,
  securitySchemes: {
    brandKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        "A key of the brand, for its own servers: with it the domain rule is skipped, and the event's source and `skip_cooldown` are believed. Never put it into a page.",
    },
  },
});

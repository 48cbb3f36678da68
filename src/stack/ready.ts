/** What a stack tells when it is ready. */
import type { HostUrls } from '../client/host-urls.ts';
import type { SeedChange } from '../rules/brands/seed-changes.ts';
import type { Role } from '../site/accounts/users.ts';

/** The emulator's ready line without its `type`. */
export interface Ready {
  pid: number;
  urls: HostUrls & { rpc: string };
  chain: { id: number };
  contracts: { token: string; escrow: string; perks: string; pointsSale: string };
  /** `events`: the active event types that any page may send, in the brand's order. */
  brands: {
    brandId: string;
    domain: string;
    apiKey: string;
    webhookSecret: string;
    events: string[];
  }[];
  /** `password` is for the login form of the site, and empty for users of a fixture who have none. */
  users: {
    email: string;
    address: string;
    login: string;
    password: string;
    applicationPassword: string;
    role: Role;
  }[];
  /** The emulated payment processor: for the package `stripe`, host, port and protocol of `url`. Checkout pages are below `<url>/_pay`. */
  processor: { url: string; secretKey: string; webhookSecret: string };
  controlToken: string;
  clock: string;
  dataDir: string;
  /** What the seed files have changed in a ledger that had brands before, if anything. */
  seedChanges?: SeedChange[];
}

/** The environment variables with which a program under test finds a running stack. */
export function readyEnvironment(
  ready: Pick<Ready, 'urls' | 'controlToken' | 'chain' | 'contracts' | 'brands' | 'processor'>,
): Record<string, string> {
  const brand = ready.brands[0];
  return {
    REWARDS_EVENT_HANDLER_URL: ready.urls.events,
    REWARDS_RELAYER_URL: ready.urls.relay,
    REWARDS_REGISTER_URL: ready.urls.register,
    REWARDS_SERVICES_URL: ready.urls.services,
    REWARDS_SITE_URL: ready.urls.site,
    REWARDS_CONTROL_URL: ready.urls.control,
    REWARDS_CONTROL_TOKEN: ready.controlToken,
    REWARDS_RPC_URL: ready.urls.rpc,
    REWARDS_CHAIN_ID: String(ready.chain.id),
    REWARDS_RWT_ADDRESS: ready.contracts.token,
    OIDC_ISSUER: `${ready.processor.url}/_idp`,
    STRIPE_API_BASE: ready.processor.url,
    STRIPE_SECRET_KEY: ready.processor.secretKey,
    STRIPE_WEBHOOK_SECRET: ready.processor.webhookSecret,
    ...(brand && {
      REWARDS_BRAND_ID: brand.brandId,
      REWARDS_API_KEY: brand.apiKey,
      REWARDS_DOMAIN: brand.domain,
    }),
  };
}

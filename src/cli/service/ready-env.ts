/** The environment variables with which a program under test finds a running stack. */
import type { Ready } from '../../emulator/state/ready.ts';

export function readyEnvironment(ready: Ready): Record<string, string> {
  const brand = ready.brands[0];
  return {
    REWARDS_EVENT_HANDLER_URL: ready.urls.events,
    REWARDS_RELAYER_URL: ready.urls.relay,
    REWARDS_REGISTER_URL: ready.urls.register,
    REWARDS_SERVICES_URL: ready.urls.services,
    REWARDS_CONTROL_URL: ready.urls.control,
    REWARDS_CONTROL_TOKEN: ready.controlToken,
    REWARDS_RPC_URL: ready.urls.rpc,
    REWARDS_CHAIN_ID: String(ready.chain.id),
    REWARDS_RWT_ADDRESS: ready.contracts.token,
    ...(brand && { REWARDS_BRAND_ID: brand.brandId, REWARDS_API_KEY: brand.apiKey }),
  };
}

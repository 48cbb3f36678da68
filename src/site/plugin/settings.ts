/** The plugin's settings, as its administrator keeps them. Contract: What the service does. */
import type { Hook } from './hooks.ts';

/** An event that follows a hook. */
export interface HookedEvent {
  hook: Hook;
  /** Exactly as the brand names it; case counts. */
  eventName: string;
  enabled: boolean;
}

export interface PluginSettings {
  /** Empty: the plugin is not configured. */
  brandId: string;
  eventHandlerUrl: string;
  servicesUrl: string;
  /** The domain that event calls name; the host of the site where it is empty. */
  domain: string;
  /** A key of the brand, for brands that let nobody else write or redeem (`engagementWrites: credential`, `redemptions: key`); stays on the server. */
  apiKey: string;
  events: HookedEvent[];
  debugLogging: boolean;
}

/** A wrong setting: what, why, and how to mend it. */
export interface SettingsProblem {
  field: string;
  message: string;
  fix: string;
}

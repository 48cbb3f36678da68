/** The plugin's settings, as its administrator keeps them. Contract: What the service does. */
/** An event that follows a hook. */
export interface HookedEvent {
  /** One of the site's hooks, or the name of one that the host, a command or a page fires. */
  hook: string;
  /** Exactly as the brand names it; case counts. */
  eventName: string;
  enabled: boolean;
  /** Whether pages may send it through the AJAX action, as they may the events of `share`: then any visitor can. */
  fromPages?: boolean | undefined;
}

export interface PluginSettings {
  /** Empty: the plugin is not configured. */
  brandId: string;
  eventHandlerUrl: string;
  servicesUrl: string;
  /** The domain that event calls name; the host of the site where it is empty. */
  domain: string;
  /** A key of the brand, for brands that let only its holders write or redeem (`engagementWrites: credential`, `redemptions: key`); stays on the server. */
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

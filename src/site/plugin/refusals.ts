/** What the plugin's API can refuse: one row a code. Contract: Site Plugin REST API, Errors. */

export const pluginRefusals = {
  not_logged_in: { status: 401, message: 'User must be logged in' },
  not_configured: { status: 500, message: 'Plugin not configured' },
  missing_perk_id: { status: 400, message: 'perkId is required' },
  missing_milestone: { status: 400, message: 'milestoneDays is required' },
  checkin_failed: { status: 400, message: 'Check-in failed' },
  redeem_failed: { status: 400, message: 'Redemption failed' },
  claim_failed: { status: 400, message: 'Milestone not available or already claimed' },
  api_error: { status: 500, message: 'Error communicating with the service' },
} as const;

export type PluginRefusalCode = keyof typeof pluginRefusals;

/** An expected no. `message` is for visitors, in the service's short words where it gave a reason. */
export interface PluginRefusal {
  code: PluginRefusalCode;
  message: string;
}

export type Outcome<Value> = { ok: true; value: Value } | { ok: false; refusal: PluginRefusal };

/** What the service promises about events, as simply as it can be said: one brand, its users, a clock. */

export interface ModelRule {
  reward: number;
  /** -1: no limit. */
  maxClaims: number;
  maxTotalClaims: number;
  cooldownMs: number;
}

export const ESCROW = 200;
export const DUPLICATE_WINDOW_MS = 60_000;

export const RULES: Record<string, ModelRule> = {
  free: { reward: 10, maxClaims: -1, maxTotalClaims: -1, cooldownMs: 0 },
  once: { reward: 15, maxClaims: 1, maxTotalClaims: -1, cooldownMs: 0 },
  daily: { reward: 7, maxClaims: -1, maxTotalClaims: -1, cooldownMs: 300_000 },
  rare: { reward: 20, maxClaims: -1, maxTotalClaims: 3, cooldownMs: 0 },
  twice: { reward: 5, maxClaims: 2, maxTotalClaims: -1, cooldownMs: 90_000 },
};
export const events = Object.keys(RULES);

/** How an event is sent: by a page, or by the brand's own server, which may pass over limits. */
export interface Way {
  withKey: boolean;
  source: 'voice_claim' | 'page' | undefined;
  skipCooldown: boolean;
}

export interface Model {
  nowMs: number;
  /** RWT of the escrow that nobody was promised. */
  left: number;
  totals: Map<string, number>;
  claims: Map<string, { count: number; lastMs: number }>;
  /** RWT granted, by user. */
  granted: Map<number, number>;
  /** Requests with a key of their own, with the answer that was given: what a repetition gets. */
  keyed: { key: string; user: number; event: string; way: Way; kept: string | undefined }[];
}

export const emptyModel = (): Model => ({
  nowMs: 0,
  left: ESCROW,
  totals: new Map(),
  claims: new Map(),
  granted: new Map(),
  keyed: [],
});

/** The answer to an event as things are: 'rewarded', or the reason. */
export function verdict(model: Model, user: number, event: string, way: Way): string {
  const rule = RULES[event];
  if (!rule) return 'no such event';
  const trusted = way.withKey && way.source === 'voice_claim';
  const skips = trusted || (way.withKey && way.skipCooldown);
  const claim = model.claims.get(`${user} ${event}`);
  const sinceMs = claim ? model.nowMs - claim.lastMs : Number.POSITIVE_INFINITY;
  if (sinceMs < DUPLICATE_WINDOW_MS) return 'duplicate';
  if (!skips && sinceMs < rule.cooldownMs) return 'cooldown';
  if (!trusted && rule.maxClaims >= 0 && (claim?.count ?? 0) >= rule.maxClaims) return 'max_claims_reached';
  if (rule.maxTotalClaims >= 0 && (model.totals.get(event) ?? 0) >= rule.maxTotalClaims)
    return 'max_total_claims_reached';
  return model.left < rule.reward ? 'insufficient_brand_balance' : 'rewarded';
}

/** What is so after a reward. */
export function grant(model: Model, user: number, event: string): void {
  const reward = RULES[event]?.reward ?? 0;
  const claim = model.claims.get(`${user} ${event}`);
  model.claims.set(`${user} ${event}`, { count: (claim?.count ?? 0) + 1, lastMs: model.nowMs });
  model.totals.set(event, (model.totals.get(event) ?? 0) + 1);
  model.granted.set(user, (model.granted.get(user) ?? 0) + reward);
  model.left -= reward;
}

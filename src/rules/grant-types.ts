/** Event types of rewards that the service grants by itself: no rule of a brand may have them, so no caller can send them. */

export const grantTypes = ['streak_checkin', 'streak_milestone'] as const;
export type GrantType = (typeof grantTypes)[number];

export const isGrantType = (eventType: string): eventType is GrantType =>
  grantTypes.some((type) => type === eventType);

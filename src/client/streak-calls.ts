/** Streaks of users, on the services host. */
import type { ClaimedMilestoneBody, RecordedActivityBody, StreakStatusBody } from './bodies.ts';
import type { ServicesOptions, ServicesSend } from './services-send.ts';

export const streakCalls = (send: ServicesSend) => ({
  /** GET streak/status; `query`: brand, user and type. */
  status: (query: URLSearchParams) =>
    send<StreakStatusBody>({ host: 'services', path: `/streak/status?${query}`, method: 'GET' }),
  /** POST streak/record-activity. */
  recordActivity: (body: Record<string, unknown>, options: ServicesOptions = {}) =>
    send<RecordedActivityBody>({
      host: 'services',
      path: '/streak/record-activity',
      method: 'POST',
      body,
      ...options,
    }),
  /** POST streak/claim-milestone. */
  claimMilestone: (body: Record<string, unknown>, options: ServicesOptions = {}) =>
    send<ClaimedMilestoneBody>({
      host: 'services',
      path: '/streak/claim-milestone',
      method: 'POST',
      body,
      ...options,
    }),
});

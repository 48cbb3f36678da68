/** Streaks of users, on the services host. */
import type { ClaimedMilestoneBody, RecordedActivityBody, StreakStatusBody } from './bodies.ts';
import type { Reply } from './reply.ts';

type Send = <Body>(wish: {
  host: 'services';
  path: string;
  method: string;
  body?: unknown;
  headers?: Record<string, string>;
}) => Promise<Reply<Body>>;

interface Options {
  headers?: Record<string, string>;
}

export const streakCalls = (send: Send) => ({
  /** GET streak/status; `query`: brand, user and type. */
  status: (query: URLSearchParams) =>
    send<StreakStatusBody>({ host: 'services', path: `/streak/status?${query}`, method: 'GET' }),
  /** POST streak/record-activity. */
  recordActivity: (body: Record<string, unknown>, options: Options = {}) =>
    send<RecordedActivityBody>({
      ...{ host: 'services', path: '/streak/record-activity', method: 'POST', body },
      ...options,
    }),
  /** POST streak/claim-milestone. */
  claimMilestone: (body: Record<string, unknown>, options: Options = {}) =>
    send<ClaimedMilestoneBody>({
      ...{ host: 'services', path: '/streak/claim-milestone', method: 'POST', body },
      ...options,
    }),
});

/** Calls of the services host: streaks of users, and perks of a brand. */
import type {
  ClaimedMilestoneBody,
  PerksBody,
  RecordedActivityBody,
  RedeemedPerkBody,
  RefusalBody,
  StreakStatusBody,
} from './bodies.ts';
import type { Reply } from './reply.ts';

type ServicesSend = <Body>(wish: {
  host: 'services';
  path: string;
  method: string;
  body?: unknown;
  headers?: Record<string, string>;
}) => Promise<Reply<Body>>;

interface ServicesOptions {
  headers?: Record<string, string>;
}

/** Streaks of users, on the services host. */
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

/** Perks of a brand, on the services host. */
export const perkCalls = (send: ServicesSend) => ({
  /** GET perks of one brand; the other fields go into the query. */
  list: (
    { brandId, ...query }: { brandId: string } & Record<string, string>,
    options: ServicesOptions = {},
  ) => {
    const path = `/perks/${brandId}?${new URLSearchParams(query)}`;
    return send<PerksBody | RefusalBody>({ host: 'services', path, method: 'GET', ...options });
  },
  /** POST perks/redeem. */
  redeem: (body: Record<string, unknown>, options: ServicesOptions = {}) =>
    send<RedeemedPerkBody | RefusalBody>({
      host: 'services',
      path: '/perks/redeem',
      method: 'POST',
      body,
      ...options,
    }),
});

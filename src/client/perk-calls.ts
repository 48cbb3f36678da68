/** Perks of a brand, on the services host. */
import type { PerksBody, RedeemedPerkBody, RefusalBody } from './bodies.ts';
import type { ServicesOptions, ServicesSend } from './services-send.ts';

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

/** What the demo site's plugin is set to at first: as the fixture says, and else what is usual. */

import { findConfiguredBrand, listAllEventRules } from '../../ledger/brands/brand-configuration.ts';
import { listBrands } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import { defaultEvents } from '../../site/plugin/default-events.ts';
import type { HookedEvent, PluginSettings } from '../../site/plugin/settings.ts';
import type { Fixture } from '../fixture/fixture.ts';
import type { HostUrls } from '../open-hosts.ts';

/** The plugin's settings for the fixture's site, or for the first brand; without any brand, it is not configured. */
export async function siteSettings(
  { database: { db } }: { database: Database },
  fixture: Pick<Fixture, 'brands' | 'site'>,
  urls: Pick<HostUrls, 'events' | 'services'>,
): Promise<PluginSettings> {
  const { site } = fixture;
  const first = fixture.brands[0]?.brand ?? (await listBrands(db))[0];
  const brandId = site?.brand ?? first?.brandId;
  if (!brandId) return notConfigured(urls);
  const brand = await findConfiguredBrand(db, brandId);
  const active = new Set(
    (await listAllEventRules(db, brandId)).filter((rule) => rule.active).map(({ eventType }) => eventType),
  );
  const usual = defaultEvents.filter(({ eventName }) => active.has(eventName));
  const { clientEvents, engagementWrites, redemptions } = brand?.profile ?? {};
  const needsKey = [clientEvents, engagementWrites].includes('credential') || redemptions !== 'open';
  const seeded = fixture.brands.find((one) => one.brand.brandId === brandId);
  return {
    brandId,
    eventHandlerUrl: urls.events,
    servicesUrl: urls.services,
    domain: site?.domain ?? brand?.profile.domains[0] ?? '',
    apiKey: needsKey ? (seeded?.apiKey ?? '') : '',
    events: site?.events?.map(hooked) ?? usual,
    debugLogging: site?.debugLog ?? false,
  };
}

const notConfigured = (urls: Pick<HostUrls, 'events' | 'services'>): PluginSettings => ({
  brandId: '',
  eventHandlerUrl: urls.events,
  servicesUrl: urls.services,
  domain: '',
  apiKey: '',
  events: [],
  debugLogging: false,
});

const hooked = ({
  hook,
  event,
  enabled,
  fromPages,
}: NonNullable<NonNullable<Fixture['site']>['events']>[number]) =>
  ({ hook, eventName: event, enabled, ...(fromPages && { fromPages }) }) satisfies HookedEvent;

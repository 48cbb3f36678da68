/** Who a stack starts with. */
import { listBrands, listEventRules, type StoredBrand } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { EventRule } from '../../rules/brands/brand.ts';
import type { Ready } from '../../stack/ready.ts';
import type { Seeded } from '../stack/prepare-stack.ts';

/** Brands and users of the ready line. */
export async function readPeople({ db }: Database, seeded: Pick<Seeded, 'fixture' | 'addresses'>) {
  const stored = await listBrands(db);
  const events = new Map<string, string[]>();
  for (const { brandId } of stored) {
    const open = (await listEventRules(db, brandId)).filter(isOpenToPages);
    events.set(
      brandId,
      open.map(({ eventType }) => eventType),
    );
  }
  return demoPeople(seeded, stored, (brandId) => events.get(brandId) ?? []);
}

/** Neither limited to channels of a chat nor paid by what an order cost. */
const isOpenToPages = ({ detail }: EventRule) =>
  !detail.detectionConfig.channels?.length && detail.dynamic?.perUsd === undefined;

/**
 * Brands and users as the ready line names them: the fixture's brands first, with their keys, then those that the ledger
 * has beside them, whose keys nobody knows any more.
 */
const demoPeople = (
  { fixture, addresses }: Pick<Seeded, 'fixture' | 'addresses'>,
  stored: readonly StoredBrand[],
  eventsOf: (brandId: string) => string[],
): Pick<Ready, 'brands' | 'users'> => {
  const seeded = fixture.brands.map(({ brand, apiKey, webhook }) => ({
    brandId: brand.brandId,
    domain: brand.profile.domains[0] ?? '',
    apiKey: apiKey ?? '',
    webhookSecret: webhook?.secret ?? '',
    events: eventsOf(brand.brandId),
  }));
  const others = stored.filter(({ brandId }) => !seeded.some((one) => one.brandId === brandId));
  return {
    brands: [
      ...seeded,
      ...others.map(({ brandId, profile }) => ({
        brandId,
        domain: profile.domains[0] ?? '',
        apiKey: '',
        webhookSecret: '',
        events: eventsOf(brandId),
      })),
    ],
    users: fixture.users.map(({ email, login, password, applicationPassword, role }) => ({
      email,
      address: addresses.get(email) ?? '',
      login,
      password: password ?? '',
      applicationPassword,
      role,
    })),
  };
};

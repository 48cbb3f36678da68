/** Who a stack starts with. */
import { listBrands, listEventRules } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { EventRule } from '../../rules/brands/brand.ts';
import type { Seeded } from '../world/prepare-world.ts';
import { demoPeople } from './ready.ts';

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

/** An event of a host below domains of two brands: it counts for the brand of the nearest one. */
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../../src/ledger/database/sqlite.ts';
import { brandDomains } from '../../../src/ledger/schema/brands.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { someone } from '../../kits/service/service.ts';
import { type Brand, open, shop, startContractService } from '../kit.ts';

describe.each(databaseKinds)(
  'domains of two brands, one below the other (on $kind)',
  ({ open: openKind }) => {
    test('an event counts for the brand of the nearest domain only', async () => {
      const { databaseUrl, stop } = await openKind();
      onTestFinished(stop);
      const service = await startContractService({ databaseUrl });
      onTestFinished(service.stop);
      const eventFrom = async (brand: Brand, fields: Record<string, unknown>) =>
        (await service.send(brand, { userEmail: someone(), ...fields })).status;
      expect(await eventFrom(shop, { domain: 'open.shop.example' })).toBe(200);

      // As ledgers have it from before such domains were refused.
      const ledger = databaseUrl
        ? openPostgres(databaseUrl)
        : openSqlite(join(service.ready.dataDir, 'ledger.sqlite'));
      await ledger.db
        .insert(brandDomains)
        .values({ brandId: open.brandId as `0x${string}`, domain: 'open.shop.example', source: 'dns' });
      await ledger.close();

      for (const domain of ['open.shop.example', 'www.open.shop.example']) {
        const sourceUrl = `https://${domain}/page`;
        expect(await eventFrom(shop, { domain })).toBe(403);
        expect(await eventFrom(shop, { domain: undefined, sourceUrl })).toBe(403);
        expect(await eventFrom(open, { domain })).toBe(200);
      }
      const origin = 'https://www.open.shop.example';
      const fromPage = await service.send(shop, { userEmail: someone() }, { origin });
      expect(fromPage.status).toBe(403);
      for (const domain of ['shop.example', 'www.shop.example', 'xopen.shop.example']) {
        expect(await eventFrom(shop, { domain })).toBe(200);
        expect(await eventFrom(open, { domain })).toBe(403);
      }
    });
  },
);

/** The service looks by itself at domains that were proven by DNS; the clock of the emulator drives it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';
import { startNameServer } from '../../kits/network/name-server.ts';
import { until } from '../../kits/service/clock.ts';
import { someone } from '../../kits/service/service.ts';
import { API, type ContractService, shop, startContractService } from '../kit.ts';

/** No answer, and no seconds of waiting for it: that silence is the same, `verify-dns.test.ts` shows. */
const SERVFAIL = { code: 2 };

describe.each(databaseKinds)('on $kind', ({ open }) => {
  let names: Awaited<ReturnType<typeof startNameServer>>;
  let database: TestDatabase;
  let service: ContractService;
  beforeAll(async () => {
    names = await startNameServer();
    database = await open();
    service = await startContractService({
      dns: { servers: [names.address] },
      databaseUrl: database.databaseUrl,
    });
  });
  afterAll(async () => {
    await service?.stop();
    await database?.stop();
    await names?.stop();
  });

  const eventFrom = async (domain: string) =>
    (await service.send(shop, { userEmail: someone(), domain })).status;
  const prove = async (domain: string) => {
    const path = `${service.ready.urls.control}/brands/${shop.brandId}/dns?domain=${domain}`;
    const { name, value } = (await service.request(path)).body;
    names.table.set(name, { txt: [value] });
    expect((await service.post(`${API}/verify-dns`, { domain })).body.dnsConfigured).toBe(true);
    return name as string;
  };
  const looksAt = (name: string) => names.asked.filter((question) => question === `TXT ${name}`).length;
  /** Moves the clock and waits until every one of these was looked at again. */
  const lookAfter = async (hours: number, all: string[]) => {
    const before = all.map(looksAt);
    await service.advance(`${hours}h`);
    await until('the next looks', () => all.every((name, place) => looksAt(name) > (before[place] ?? 0)));
  };

  test('a domain whose record is gone is unlinked over a day without anybody asking, its neighbours stay', async () => {
    const [gone, broken, kept] = ['gone.example', 'broken.example', 'kept.example'];
    const all = [await prove(gone), await prove(broken), await prove(kept)];
    names.table.delete(all[0] ?? '');
    names.table.set(all[1] ?? '', SERVFAIL);
    // Misses are counted at the first look, and eight hours later each.
    for (const hours of [8, 8, 8]) {
      await lookAfter(hours, all);
      expect(await eventFrom(gone)).toBe(200);
    }
    await service.advance('8h');
    await until('the end of the link', async () => (await eventFrom(gone)) === 403);
    // Name servers without an answer are no misses, and a record that is there is none.
    expect(await eventFrom(broken)).toBe(200);
    expect(await eventFrom(kept)).toBe(200);
    // A domain whose record is back is linked again at once.
    await prove(gone);
    expect(await eventFrom(gone)).toBe(200);
  }, 120_000);

  test('while DNS has no answer it is asked again after ten minutes', async () => {
    const name = await prove('later.example');
    names.table.set(name, SERVFAIL);
    await lookAfter(8, [name]);
    const before = looksAt(name);
    await until('the end of the look', async () => {
      await service.advance('10m');
      return looksAt(name) > before + 2;
    });
    expect(await eventFrom('later.example')).toBe(200);
  }, 60_000);
});

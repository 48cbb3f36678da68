/** Contract: POST verify-dns, against a real name server on this machine. */
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { domainToken } from '../../../src/actions/brands/verify-dns.ts';
import { type DnsReply, startNameServer } from '../../kits/network/name-server.ts';
import { someone } from '../../kits/service/service.ts';
import { API, type ContractService, expectBothForms, open, shop, startContractService } from '../kit.ts';

describe('contract: POST verify-dns', () => {
  let names: Awaited<ReturnType<typeof startNameServer>>;
  let service: ContractService;
  let secrets: Map<string, string>;
  beforeAll(async () => {
    names = await startNameServer();
    service = await startContractService({ dns: { servers: [names.address] } });
    const ledger = new SQLite(join(service.ready.dataDir, 'ledger.sqlite'), { readonly: true });
    const rows = ledger.prepare('select brand_id, verification_secret from brands').raw().all();
    secrets = new Map(rows as [string, string][]);
    ledger.close();
  });
  afterAll(async () => {
    await service?.stop();
    await names?.stop();
  });
  beforeEach(() => {
    names.table.clear();
    names.asked.length = 0;
  });

  const tokenOf = (brandId: string, domain: string) => domainToken(secrets.get(brandId) ?? '', domain);
  const recordOf = (brandId: string, domain: string) =>
    `brand_id=${brandId};api_key=${tokenOf(brandId, domain)}`;
  const verify = (domain: unknown) => service.post(`${API}/verify-dns`, { domain });
  const set = (domain: string, reply: DnsReply) => names.table.set(`_rewards.${domain}`, reply);
  const eventFrom = async (domain: string, brand = shop) =>
    (await service.send(brand, { userEmail: someone(), domain })).status;

  test('contract: POST verify-dns, 200 body; the domain is linked', async () => {
    const domain = 'linked.example';
    expect(await eventFrom(domain)).toBe(403);
    set(domain, { txt: ['v=spf1 -all', recordOf(shop.brandId, domain)] });
    const { status, body } = await verify(domain);
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, domain, dnsConfigured: true, brandId: shop.brandId });
    expect(names.asked).toEqual(['TXT _rewards.linked.example']);
    expect(await eventFrom(domain)).toBe(200);
    expect(await eventFrom(`www.${domain}`)).toBe(200);
    expect(await eventFrom(domain, open)).toBe(403);
    const cors = await service.request(`${API}/health`, { headers: { origin: `https://${domain}` } });
    expect(cors.headers.get('access-control-allow-origin')).toBe(`https://${domain}`);
  });

  test('a record that is gone unlinks its domain after several looks over a day, however often anybody looks', async () => {
    const domain = 'gone.example';
    const record: DnsReply = { txt: [recordOf(shop.brandId, domain)] };
    const look = async () => (await verify(domain)).body.dnsConfigured;
    set(domain, record);
    expect(await look()).toBe(true);
    set(domain, { code: 3 });
    for (let hour = 0; hour < 16; hour += 4) {
      for (let times = 0; times < 5; times++) expect(await look()).toBe(false);
      expect(await eventFrom(domain)).toBe(200);
      await service.advance('4h');
    }
    // Found again, it begins anew.
    set(domain, record);
    expect(await look()).toBe(true);
    set(domain, { code: 3 });
    for (let looks = 0; looks < 3; looks++) {
      expect(await look()).toBe(false);
      expect(await eventFrom(domain)).toBe(200);
      await service.advance('8h');
    }
    expect(await look()).toBe(false);
    expect(await eventFrom(domain)).toBe(403);
  });

  test('a domain above or below another brand’s is not linked, and the answer names that domain', async () => {
    for (const domain of ['promo.shop.example', 'a.b.shop.example']) {
      set(domain, { txt: [recordOf(open.brandId, domain)] });
      const { status, body } = await verify(domain);
      expect([status, body.success, body.dnsConfigured, body.brandId]).toEqual([200, true, false, '']);
      expect(body.message).toBe(
        `the record at _rewards.${domain} links nothing: shop.example belongs to another brand`,
      );
      expect(await eventFrom(domain, open)).toBe(403);
    }
    const [below, above] = ['one.roof.example', 'roof.example'];
    set(below, { txt: [recordOf(shop.brandId, below)] });
    expect((await verify(below)).body.dnsConfigured).toBe(true);
    set(above, { txt: [recordOf(open.brandId, above)] });
    expect((await verify(above)).body).toMatchObject({ dnsConfigured: false, brandId: '' });
    // Its own domains a brand may nest as it likes.
    set(above, { txt: [recordOf(shop.brandId, above)] });
    expect((await verify(above)).body).toMatchObject({ dnsConfigured: true, brandId: shop.brandId });
  });

  const unlinked: [string, (domain: string) => DnsReply][] = [
    ['no such name', () => ({ code: 3 })],
    ['no records', () => ({ txt: [] })],
    ['a wrong token', () => ({ txt: [`brand_id=${shop.brandId};api_key=wrong`] })],
    [
      'the token of another brand',
      (d) => ({ txt: [`brand_id=${shop.brandId};api_key=${tokenOf(open.brandId, d)}`] }),
    ],
    ['the token of another domain', () => ({ txt: [recordOf(shop.brandId, 'shop.example')] })],
    ['the brand’s API key', () => ({ txt: [`brand_id=${shop.brandId};api_key=${shop.apiKey}`] })],
    ['an unknown brand', () => ({ txt: [`brand_id=0x${'9'.repeat(40)};api_key=x`] })],
    ['other records only', () => ({ txt: ['v=spf1 -all', 'brand_id', ';;=', ''] })],
    ['a record of 60,000 characters', () => ({ txt: ['x'.repeat(60_000)] })],
    ['500 records', () => ({ txt: Array<string>(500).fill('x'.repeat(50)) })],
  ];
  test.each(unlinked)('%s: not configured', async (what, reply) => {
    const domain = `unlinked${what.length}.example`;
    set(domain, reply(domain));
    const { status, body } = await verify(domain);
    expect([status, body.success, body.dnsConfigured, body.brandId]).toEqual([200, true, false, '']);
    expect(await eventFrom(domain)).toBe(403);
  });

  test('the record is found among others, in a reply too large for one packet', async () => {
    const domain = 'large.example';
    const others = Array.from({ length: 20 }, (_, n) => `${n} ${'x'.repeat(100)}`);
    set(domain, { txt: [...others, recordOf(shop.brandId, domain)] });
    expect((await verify(domain)).body).toMatchObject({ dnsConfigured: true, brandId: shop.brandId });
  });

  test.each<[string, DnsReply]>([
    ['SERVFAIL', { code: 2 }],
    ['REFUSED', { code: 5 }],
    ['no answer at all', { silent: true }],
    ['rubbish', { raw: Buffer.from('not a DNS packet at all, really') }],
  ])('%s: an answer within 3 seconds, and what was linked stays linked', async (what, reply) => {
    const domain = `broken${what.length}.example`;
    set(domain, { txt: [recordOf(shop.brandId, domain)] });
    expect((await verify(domain)).body.dnsConfigured).toBe(true);
    set(domain, reply);
    const started = performance.now();
    const { status, body } = await verify(domain);
    // Without a limit of ours a silent server takes twenty seconds and more; between the two is what a busy machine may add.
    expect(performance.now() - started).toBeLessThan(15_000);
    expect([status, body.success, body.dnsConfigured]).toEqual([200, false, false]);
    expect(body.message).toMatch(/DNS/);
    expect(await eventFrom(domain)).toBe(200);
  });

  test('the token in DNS is public, and opens nothing', async () => {
    const token = tokenOf(shop.brandId, 'shop.example');
    for (const key of [token, `rk_test_shop_${token}`]) {
      const headers = { authorization: `Bearer ${key}` };
      const answer = await service.send(shop, { userEmail: someone(), domain: 'evil.example' }, headers);
      expect(answer.status).toBe(403);
    }
  });

  test.each([
    undefined,
    null,
    5,
    '',
    ' ',
    [],
    {},
    'a b',
    'https://shop.example',
    'shop.example/x',
    '..',
    '*.shop.example',
    'a@shop.example',
    `${'a.'.repeat(130)}example`,
    '[::1]',
    'shop.example%00',
  ])('domain %j: 400, and nobody is asked', async (domain) => {
    const answer = await verify(domain);
    expect(answer.status).toBe(400);
    expect(answer.body.details.errors[0]).toMatch(/^domain: /);
    expectBothForms(answer);
    expect(names.asked).toEqual([]);
  });

  test('only the one name under the domain is asked, whatever the domain is', async () => {
    for (const domain of ['Shop.EXAMPLE.', 'bücher.example', 'localhost', '127.0.0.1']) await verify(domain);
    expect(names.asked.map((question) => question.split(' ')[1])).toEqual(
      expect.arrayContaining(['_rewards.shop.example', '_rewards.xn--bcher-kva.example']),
    );
    for (const question of names.asked) expect(question).toMatch(/^TXT _rewards\./);
  });
});

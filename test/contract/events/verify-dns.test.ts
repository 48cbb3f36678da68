/** Contract: POST verify-dns, against a real name server on this machine. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type Socket as Connection, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { decode, encode, type Packet, type Answer as Record, streamDecode, streamEncode } from 'dns-packet';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { domainToken } from '../../../src/actions/brands/verify-dns.ts';
import { someone } from '../../kits/service.ts';
import { API, type ContractService, expectBothForms, open, shop, startContractService } from '../kit.ts';

type Reply = { txt: string[] } | { code: number } | { silent: true } | { raw: Buffer };

/** How often a port that is free for packets may be taken for connections. */
const PORT_TRIES = 20;

/** A name server has one number for packets and connections; the system hands out free ones for each kind alone. */
async function onePortForBoth(): Promise<{ udp: Socket; tcp: Server; port: number }> {
  for (let tries = 1; ; tries += 1) {
    const udp = createSocket('udp4').bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const { port } = udp.address();
    const tcp = createServer().listen(port, '127.0.0.1');
    try {
      await once(tcp, 'listening');
      return { udp, tcp, port };
    } catch (error) {
      udp.close();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || tries === PORT_TRIES) throw error;
    }
  }
}

/** A name server whose table is changed by the tests; it notes what it was asked. */
async function startNameServer() {
  const table = new Map<string, Reply>();
  const asked: string[] = [];
  const answer = (query: Packet): Buffer | undefined | Packet => {
    const [question] = query.questions ?? [];
    asked.push(`${question?.type} ${question?.name}`);
    const reply = table.get(question?.name.toLowerCase() ?? '') ?? { code: 3 };
    if ('silent' in reply) return undefined;
    if ('raw' in reply) return reply.raw;
    const base: Packet = { type: 'response', id: query.id ?? 0, questions: query.questions ?? [] };
    if ('code' in reply) return { ...base, flags: reply.code };
    const name = question?.name ?? '';
    const answers: Record[] = reply.txt.map((text) => ({
      name,
      type: 'TXT',
      ttl: 0,
      // A TXT record is made of pieces of at most 255 bytes.
      data: text.match(/.{1,255}/gs) ?? [''],
    }));
    return { ...base, answers };
  };
  const onPacket = (udp: Socket, message: Buffer, from: RemoteInfo) => {
    const reply = answer(decode(message));
    if (!reply) return;
    const bytes = Buffer.isBuffer(reply) ? reply : encode(reply);
    const truncated = { ...(Buffer.isBuffer(reply) ? {} : reply), answers: [], flags: 1 << 9 };
    udp.send(bytes.length > 512 ? encode(truncated) : bytes, from.port, from.address);
  };
  const onConnection = (socket: Connection) => {
    const chunks: Buffer[] = [];
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      const read = Buffer.concat(chunks);
      if (read.length < 2 || read.length < 2 + read.readUInt16BE(0)) return;
      const reply = answer(streamDecode(read) ?? {});
      if (reply && !Buffer.isBuffer(reply)) socket.end(streamEncode(reply));
    });
  };
  const { udp, tcp, port } = await onePortForBoth();
  udp.on('message', (message, from) => onPacket(udp, message, from));
  tcp.on('connection', onConnection);
  return {
    table,
    asked,
    address: `127.0.0.1:${port}`,
    async stop() {
      udp.close();
      tcp.close();
    },
  };
}

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
  const set = (domain: string, reply: Reply) => names.table.set(`_rewards.${domain}`, reply);
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
    const record: Reply = { txt: [recordOf(shop.brandId, domain)] };
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

  const unlinked: [string, (domain: string) => Reply][] = [
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

  test.each<[string, Reply]>([
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
    // Beyond the three seconds, what a busy machine may add.
    expect(performance.now() - started).toBeLessThan(5_000);
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

/**
 * Nothing that a URL or DNS says leads production to a machine of its own network: sixty ways are tried, with a
 * listener that would see a connection, and every attempt of this process to connect is seen, wherever it goes.
 */
import { networkInterfaces } from 'node:os';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { localAddresses, systemAddresses } from '../../src/dns/system.ts';
import type { Reach } from '../../src/outgoing/target.ts';
import { post } from '../../src/webhooks/post.ts';
import { watchConnections } from '../kits/network/connections.ts';
import { notOnTheInternet, ofClouds, thisMachine } from '../kits/network/inner-addresses.ts';
import { type DnsReply, startNameServer } from '../kits/network/name-server.ts';
import { startReceiver } from '../kits/network/receivers.ts';

/** In IPv6's public part, once given back and never given out again: nothing answers there. */
const NOBODY = '3ffe::1';

let dns: Awaited<ReturnType<typeof startNameServer>>;
/** Hears whatever comes to this machine, under all of its addresses. */
let internal: Awaited<ReturnType<typeof startReceiver>>;
const watch = watchConnections(() => [internal.port, 443]);

beforeAll(async () => {
  [dns, internal] = await Promise.all([startNameServer(), startReceiver(undefined, { host: '::' })]);
});
afterAll(async () => {
  await Promise.all([dns.stop(), internal.stop()]);
});
beforeEach(() => {
  internal.counts.connections = 0;
  dns.table.clear();
  dns.asked.length = 0;
  watch.begin();
});
afterEach(watch.end);

const production = (more: { ports?: number[]; networks?: string[] } = {}): Reach => ({
  to: 'public',
  // The listener's port is allowed, so that it is not what saves us.
  ports: more.ports ?? [internal.port],
  networks: more.networks ?? [],
});
const send = (url: string, { reach = production(), signal }: { reach?: Reach; signal?: AbortSignal } = {}) =>
  post(
    { reach, addressesOf: systemAddresses({ servers: [dns.address] }), clock: { now: () => 0 } },
    {
      url: url.replaceAll('PORT', String(internal.port)),
      headers: {},
      body: new Uint8Array([1]),
      ...(signal && { signal }),
    },
  );
/** As `rewards serve` sends, to show that a URL means this machine indeed. */
const sendFromSandbox = (url: string) =>
  post(
    { reach: { to: 'any' }, addressesOf: localAddresses, clock: { now: () => 0 } },
    { url: url.replaceAll('PORT', String(internal.port)), headers: {}, body: new Uint8Array([1]) },
  );

async function expectNothing(url: string, why: RegExp): Promise<void> {
  expect(await send(url)).toEqual({
    outcome: 'failed',
    why: expect.stringMatching(why),
    ms: expect.any(Number),
  });
  expect(watch.tried()).toEqual([]);
  expect(internal.counts.connections).toBe(0);
}

const notPublic = /has an address that is not public$/;

/** Containers often have no IPv6, and only Linux has all of 127.0.0.0/8. */
const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);
const isHeard = (host: string) =>
  process.platform === 'linux' && (hasIPv6 || !['[::1]', '[0:0:0:0:0:0:0:1]', '[::]'].includes(host));

describe('an address of this machine', () => {
  test.each(thisMachine)('%s', async (host) => {
    await expectNothing(`https://${host}:PORT/`, notPublic);
    if (!isHeard(host)) return;
    // The listener hears it, or the check above would show nothing.
    expect(await sendFromSandbox(`http://${host}:PORT/`)).toMatchObject({ outcome: 'answered', status: 200 });
    expect(internal.counts.connections).toBe(1);
  });

  const ours = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const own = ours
    .filter(({ family, internal: loop }) => family === 'IPv4' && !loop)
    .map((one) => one.address);
  test.each(own.filter((address) => /^(?:10|172|192\.168)\./.test(address)))('%s', async (address) => {
    await expectNothing(`https://${address}:PORT/`, notPublic);
  });
});

describe('an address that is not on the open internet', () => {
  test.each(notOnTheInternet)('%s', (host) => expectNothing(`https://${host}:PORT/`, notPublic));
});

describe("a cloud's own address, which tells machines their secrets", () => {
  test.each(ofClouds)('%s: %s', (_, host) => expectNothing(`https://${host}/latest/meta-data/`, notPublic));
});

describe('a name', () => {
  test.each<[string, string, DnsReply]>([
    ['of this machine', 'inner.example', { addresses: ['127.0.0.1'] }],
    ['of this machine by IPv6', 'inner.example', { addresses: ['::1'] }],
    ['of this machine by a mapped address', 'inner.example', { addresses: ['::ffff:127.0.0.1'] }],
    ['of a private address', 'inner.example', { addresses: ['10.1.2.3'] }],
    ['of no address', 'inner.example', { addresses: ['0.0.0.0'] }],
    ['that is localhost', 'localhost', { addresses: ['127.0.0.1'] }],
    ['below localhost', 'a.localhost', { addresses: ['127.0.0.1'] }],
    ['with the address in it', '127.0.0.1.nip.example', { addresses: ['127.0.0.1'] }],
    ['of a cloud', 'metadata.google.internal', { addresses: ['169.254.169.254'] }],
    ['of a public address and this machine', 'mixed.example', { addresses: ['8.8.8.8', '127.0.0.1'] }],
    ['of this machine and a public address', 'mixed.example', { addresses: ['127.0.0.1', '8.8.8.8'] }],
    ['of a public address, and this machine by IPv6', 'mixed.example', { addresses: ['8.8.8.8', '::1'] }],
    ['of this machine, and a public address by IPv6', 'mixed.example', { addresses: [NOBODY, '127.0.0.1'] }],
  ])('%s', async (_, name, reply) => {
    dns.table.set(name, reply);
    for (const spelling of [name, name.toUpperCase(), `${name}.`]) {
      await expectNothing(`https://${spelling}:PORT/`, notPublic);
    }
    expect(dns.asked).toContain(`A ${name}`);
  });

  test('that is another name of this machine', async () => {
    dns.table.set('inner.example', { addresses: ['127.0.0.1'] });
    dns.table.set('hooks.example', { alias: 'inner.example' });
    await expectNothing('https://hooks.example:PORT/', notPublic);
  });

  test.each<[string, DnsReply, RegExp]>([
    ['without an address', { addresses: [] }, /^hooks\.example has no address$/],
    ['that does not exist', { code: 3 }, /^hooks\.example has no address$/],
    ['whose name server is broken', { code: 2 }, /^DNS gave no answer for hooks\.example$/],
  ])('%s', async (_, reply, why) => {
    dns.table.set('hooks.example', reply);
    await expectNothing('https://hooks.example:PORT/', why);
  });

  test('of the hosts file means nothing', () =>
    expectNothing('https://localhost:PORT/', /^localhost has no address$/));

  test('that means this machine a moment after it was checked leads nowhere, and is refused next time', async () => {
    dns.table.set('rebind.example', { addresses: [NOBODY], afterwards: ['127.0.0.1', '::1'] });
    const stop = new AbortController();
    const first = send('https://rebind.example:PORT/', { signal: stop.signal });
    await expect.poll(watch.tried).toEqual([NOBODY]);
    stop.abort();
    expect(await first).toMatchObject({ outcome: 'failed' });
    expect([...dns.asked].sort()).toEqual(['A rebind.example', 'AAAA rebind.example']);
    expect(internal.counts.connections).toBe(0);

    watch.begin();
    await expectNothing('https://rebind.example:PORT/', notPublic);
  });
});

describe('a URL', () => {
  test.each([
    ['with a user that looks like a host', 'https://hooks.example@127.0.0.1:PORT/', /user name or password/],
    ['with a password', 'https://hooks.example:443@127.0.0.1:PORT/', /user name or password/],
    ['with this machine as its user', 'https://127.0.0.1:PORT@hooks.example/', /user name or password/],
    ['with a backslash', 'https://127.0.0.1:PORT\\@hooks.example/', notPublic],
    ['with a host in its fragment', 'https://127.0.0.1:PORT#@hooks.example/', notPublic],
    ['with a host in its query', 'https://127.0.0.1:PORT?@hooks.example/', notPublic],
    ['without slashes', 'https:127.0.0.1:PORT/', notPublic],
    ['with too many slashes', 'https:////127.0.0.1:PORT/', notPublic],
    ['with spaces around it', ' \n https://127.0.0.1:PORT/ ', notPublic],
    ['with a zone', 'https://[fe80::1%25lo]:PORT/', /is not a URL$/],
    ['with a zone, not encoded', 'https://[fe80::1%lo]:PORT/', /is not a URL$/],
    ['with five numbers', 'https://127.0.0.0.1:PORT/', /is not a URL$/],
    ['with a number over 255', 'https://256.0.0.1:PORT/', /is not a URL$/],
    ['without a scheme', '//127.0.0.1:PORT/', /is not a URL$/],
    ['over HTTP', 'http://127.0.0.1:PORT/', /is not HTTPS$/],
    ['over HTTP, of a name', 'http://hooks.example/', /is not HTTPS$/],
    ['of a file', 'file:///etc/passwd', /has the scheme file:, not https:$/],
    ['of another protocol', 'gopher://127.0.0.1:PORT/_POST', /has the scheme gopher:/],
    ['of FTP', 'ftp://127.0.0.1:PORT/', /has the scheme ftp:/],
    ['of a web socket', 'wss://127.0.0.1:PORT/', /has the scheme wss:/],
    ['of data', 'data:text/plain,hi', /has the scheme data:/],
    ['of a script', 'javascript:alert(1)', /has the scheme javascript:/],
    ['of a socket', 'unix:///var/run/docker.sock', /has the scheme unix:/],
    ['that is too long', `https://hooks.example/${'a'.repeat(2_048)}`, /is longer than 2048 characters$/],
  ])('%s', (_, url, why) => expectNothing(url, why));

  test.each(['22', '80', '6379', '8443', '65535'])('with port %s', async (port) => {
    dns.table.set('hooks.example', { addresses: [NOBODY] });
    await expectNothing(
      `https://hooks.example:${port}/`,
      /^the URL has the port \d+, which is not 443 or \d+$/,
    );
    expect(dns.asked).toEqual([]);
  });
});

describe('what the other side or the environment says', () => {
  test.each([301, 302, 303, 307, 308])('a redirect by %i to this machine is not followed', async (status) => {
    const trap = await startReceiver((_, response) => {
      const location = `http://127.0.0.1:${internal.port}/`;
      response.writeHead(status, { location, refresh: `0; url=${location}` }).end();
    });
    expect(await sendFromSandbox(`http://127.0.0.1:${trap.port}/`)).toMatchObject({
      outcome: 'answered',
      status,
    });
    await trap.stop();
    expect(internal.counts.connections).toBe(0);
  });

  test('a proxy of the environment is not used', async () => {
    const names = [
      'HTTP_PROXY',
      'HTTPS_PROXY',
      'ALL_PROXY',
      'http_proxy',
      'https_proxy',
      'NODE_USE_ENV_PROXY',
    ];
    const before = names.map((name) => [name, process.env[name]] as const);
    for (const name of names) process.env[name] = `http://127.0.0.1:${internal.port}`;
    process.env.NODE_USE_ENV_PROXY = '1';
    const receiver = await startReceiver();
    try {
      expect(await sendFromSandbox(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ status: 200 });
      expect(receiver.counts.connections).toBe(1);
      expect(internal.counts.connections).toBe(0);
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      await receiver.stop();
    }
  });
});

describe('the operator may name', () => {
  test('a network of their own, and nothing beside it is reached', async () => {
    dns.table.set('inner.example', { addresses: ['127.0.0.1'] });
    dns.table.set('beside.example', { addresses: ['127.0.0.1', '10.0.0.1'] });
    const reach = production({ networks: ['127.0.0.1/32', 'fd00::/8'] });
    // Nothing there speaks TLS: what matters is who was connected to.
    const failed = { outcome: 'failed', why: expect.stringMatching(/^(TLS failed|the connection)/) };
    expect(await send('https://inner.example:PORT/', { reach })).toMatchObject(failed);
    expect(await send('https://127.0.0.1:PORT/', { reach })).toMatchObject(failed);
    expect(watch.tried()).toEqual(['127.0.0.1', '127.0.0.1']);
    expect(await send('https://beside.example:PORT/', { reach })).toMatchObject({
      why: expect.stringMatching(notPublic),
    });
    expect(await send('https://127.0.0.2:PORT/', { reach })).toMatchObject({
      why: expect.stringMatching(notPublic),
    });
    expect(await send('https://[::1]:PORT/', { reach })).toMatchObject({
      why: expect.stringMatching(notPublic),
    });
    expect(watch.tried()).toHaveLength(2);
  });

  test('ports beside 443, which is always one', async () => {
    const stop = new AbortController();
    const sent = send(`https://[${NOBODY}]/`, { reach: production({ ports: [] }), signal: stop.signal });
    await expect.poll(watch.tried).toEqual([NOBODY]);
    stop.abort();
    await sent;
  });
});

/**
 * What a question to a brand's server may lead to, and what counts as its answer: no address of an inner network is ever
 * connected to, whatever the URL of a constraint says.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { askEligibility } from '../../src/constraints/external-api.ts';
import { localAddresses, systemAddresses } from '../../src/dns/system.ts';
import { watchConnections } from '../kits/network/connections.ts';
import { notOnTheInternet, ofClouds, thisMachine } from '../kits/network/inner-addresses.ts';
import { startNameServer } from '../kits/network/name-server.ts';
import { startReceiver } from '../kits/network/receivers.ts';

let dns: Awaited<ReturnType<typeof startNameServer>>;
let internal: Awaited<ReturnType<typeof startReceiver>>;
let answer = { status: 200, body: '' };
const watch = watchConnections(() => [internal.port, 443]);

beforeAll(async () => {
  dns = await startNameServer();
  internal = await startReceiver(
    (_, response) => response.writeHead(answer.status, { location: '/elsewhere' }).end(answer.body),
    { host: '::' },
  );
});
afterAll(async () => {
  await Promise.all([dns.stop(), internal.stop()]);
});
beforeEach(() => {
  internal.counts.connections = 0;
  internal.received.length = 0;
  watch.begin();
});
afterEach(watch.end);

const buyer = {
  brandId: `0x${'a'.repeat(40)}`,
  userAddress: `0x${'1'.repeat(40)}`,
  collectionId: 7,
} as const;
const inProduction = (url: string) =>
  askEligibility(
    {
      // The listener's port is allowed, so that it is not what saves us.
      reach: { to: 'public', ports: [internal.port], networks: [] },
      addressesOf: systemAddresses({ servers: [dns.address] }),
    },
    { ...buyer, url: url.replaceAll('PORT', String(internal.port)) },
  );

describe('in production', () => {
  test.each([...thisMachine, ...notOnTheInternet, ...ofClouds.map(([, host]) => host)])(
    '%s is never connected to',
    async (host) => {
      expect(await inProduction(`https://${host}:PORT/`)).toEqual({
        outcome: 'failed',
        why: expect.stringMatching(/has an address that is not public$/),
      });
      expect(watch.tried()).toEqual([]);
      expect(internal.counts.connections).toBe(0);
    },
  );

  test('a name of an inner address is never connected to', async () => {
    dns.table.set('inner.example', { addresses: ['10.0.0.1'] });
    expect(await inProduction('https://inner.example:PORT/')).toMatchObject({ outcome: 'failed' });
    expect(watch.tried()).toEqual([]);
  });

  test('plain HTTP is refused', async () => {
    expect(await inProduction('http://brand.example/')).toEqual({
      outcome: 'failed',
      why: 'the URL is not HTTPS',
    });
  });
});

describe("the server's answer", () => {
  const saying = (status: number, body: unknown) => {
    answer = { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
    return askEligibility(
      { reach: { to: 'any' }, addressesOf: localAddresses },
      { ...buyer, url: `http://127.0.0.1:${internal.port}/` },
    );
  };

  test.each<[unknown, boolean, string | null]>([
    [{ eligible: true }, true, null],
    [{ valid: true, reason: 'fine' }, true, null],
    [{ eligible: false }, false, null],
    [{ eligible: false, reason: ' not yet\u0000 ' }, false, 'not yet'],
    [{ valid: false, message: 'x'.repeat(300) }, false, 'x'.repeat(200)],
    [{ eligible: false, reason: 7 }, false, null],
  ])('%j', async (body, isMet, message) => {
    expect(await saying(200, body)).toEqual({ outcome: 'answered', isMet, message });
  });

  test.each<[number, unknown, RegExp]>([
    [500, { eligible: true }, /^it answered 500 instead of 200$/],
    [302, { eligible: true }, /^it answered 302/],
    [200, 'yes', /not JSON$/],
    [200, { eligible: 'yes' }, /no field eligible/],
    [200, null, /no field eligible/],
    [200, [], /no field eligible/],
    [200, { eligible: true, padding: 'x'.repeat(10_000) }, /cut off$/],
  ])('%i %j is neither yes nor no', async (status, body, why) => {
    expect(await saying(status, body)).toEqual({ outcome: 'failed', why: expect.stringMatching(why) });
    // A redirect leads nowhere.
    expect(internal.received).toHaveLength(1);
  });
});

/** `createSite` of the package's export: its defaults, and what it refuses. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createSite } from '../../src/site/library.ts';
import type * as published from '../../src/site/library-types.ts';

// Compiles only while the source keeps to the package's declaration.
const made: typeof published.createSite = createSite;

const brandId = `0x${'ab'.repeat(20)}`;

test.each<[what: string, options: object, message: RegExp]>([
  ['no address', {}, /createSite: url must be where browsers find the site.*not undefined/],
  ['an address of another kind', { url: 'ftp://shop.example' }, /not ftp:\/\/shop\.example/],
  ['a brand that is none', { url: 'https://shop.example', brandId: 'demo' }, /brandId must be an address/],
  [
    'a service without a scheme, and a hook that has no name',
    {
      url: 'https://shop.example',
      eventHandlerUrl: 'events.example',
      events: [{ hook: 'Page opened', eventName: 'visit', enabled: true }],
    },
    /eventHandlerUrl must be the address of the service[\s\S]*servicesUrl[\s\S]*events\.0\.hook must be 1 to 64 small letters/,
  ],
])('%s is refused, with the way to mend it', (_, options, message) => {
  expect(() => made({ store: ':memory:', ...options } as published.SiteOptions)).toThrow(message);
});

test('below a base path every link keeps it; while the service is away no reward is claimed', async () => {
  const lines: string[] = [];
  const site = made({
    url: 'http://shop.example/club/',
    brandId: brandId.toUpperCase().replace('0X', '0x'),
    // Nothing listens there.
    eventHandlerUrl: 'http://127.0.0.1:9',
    store: ':memory:',
    log: (line) => lines.push(line),
    events: [
      { hook: 'comment_posted', eventName: 'review_submission', enabled: true },
      { hook: 'booking_completed', eventName: 'custom_booking', enabled: true },
    ],
  });
  const added = await site.addUser({ login: 'ada', email: 'ada@shop.example', password: 'long-enough' });
  expect(added).toMatchObject({ user: { login: 'ada', displayName: 'ada', role: 'subscriber' } });
  expect(await site.addUser({ login: 'a', email: 'none' })).toMatchObject({
    problems: [{ field: 'login' }, { field: 'email' }],
  });
  const page = await site.fetch(new Request('http://shop.example/club/login'));
  const links = [...(await page.text()).matchAll(/(?:href|src|action)="(\/[^"]*)"/g)].map(([, path]) => path);
  expect(links.length).toBeGreaterThan(3);
  for (const link of links) expect(link).toMatch(/^\/club(?:\/|$)/);
  const calls = await site.fire('comment_posted', { email: 'ada@shop.example' });
  expect(calls).toMatchObject([{ eventName: 'review_submission', success: false, status: 0 }]);
  // A hook of the host's own, by any name; no event follows one that nobody has listed.
  expect(await site.fire('booking_cancelled', { email: 'ada@shop.example' })).toEqual([]);
  const booked = await site.fire('booking_completed', { email: 'ada@shop.example' });
  expect(booked).toMatchObject([{ eventName: 'custom_booking', success: false, status: 0 }]);
  expect(lines.join('')).not.toContain('ada@shop.example');
  await site.close();
});

test('the listener is for node:http', async () => {
  const site = made({ url: 'http://127.0.0.1', store: ':memory:', name: 'Bread' });
  const server = createServer(site.listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  expect([answer.status, await answer.text()]).toEqual([
    200,
    expect.stringContaining('<title>Bread</title>'),
  ]);
  server.close();
  server.closeAllConnections();
  await site.close();
});

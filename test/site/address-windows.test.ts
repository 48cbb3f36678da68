/** How often one address may do something: by spans of time, in memory that has a limit. */
import { expect, test } from 'vitest';
import { adjustableClock } from '../../src/lib/clock.ts';
import { addressIn, createAddressWindows } from '../../src/site/rest/address.ts';

const START_MS = Date.UTC(2030, 0, 1);

test('each address has its own count, which begins anew with each span of time', () => {
  const clock = adjustableClock({ startMs: START_MS, frozen: true });
  const mayPass = createAddressWindows({ clock }, { count: 2, ms: 60_000 });
  expect([mayPass('a'), mayPass('a'), mayPass('a'), mayPass('b')]).toEqual([true, true, false, true]);
  expect(mayPass(undefined)).toBe(true);
  clock.advance(59_999);
  expect(mayPass('a')).toBe(false);
  clock.advance(1);
  expect(mayPass('a')).toBe(true);
});

test('of a crowd of addresses the first are forgotten, never the last', () => {
  const clock = adjustableClock({ startMs: START_MS, frozen: true });
  const mayPass = createAddressWindows({ clock }, { count: 1, ms: 60_000 });
  for (let address = 0; address <= 100_000; address++) expect(mayPass(`${address}`)).toBe(true);
  expect([mayPass('100000'), mayPass('1'), mayPass('0')]).toEqual([false, false, true]);
});

test('an address of IPv6 counts by its network, one of IPv4 within it by itself', () => {
  expect(addressIn({ address: '2001:db8::1:2:3:4' })).toBe(addressIn({ address: '2001:db8:0:0:ffff::9' }));
  expect(addressIn({ address: '2001:db8:0:1::1' })).not.toBe(addressIn({ address: '2001:db8::1' }));
  expect(addressIn({ address: '::ffff:192.0.2.7' })).toBe('192.0.2.7');
  expect(addressIn({ incoming: { socket: { remoteAddress: '192.0.2.7' } } })).toBe('192.0.2.7');
  expect(addressIn(undefined)).toBeUndefined();
});

/** Whose request it is, when proxies are in between. */
import { describe, expect, test } from 'vitest';
import {
  cameByHttps,
  clientAddress,
  countedAddress,
  proxyTrust,
} from '../../src/http/frame/client-address.ts';

const trust = proxyTrust(['10.0.0.0/8', '192.0.2.7', '2001:db8:1::/48']);
const seen = (remoteAddress: string | undefined, forwardedFor?: string) =>
  clientAddress({ remoteAddress, forwardedFor, forwardedProto: undefined }, trust);

describe('X-Forwarded-For is read from the right, through our own proxies only', () => {
  test.each<[string, string | undefined, string | undefined, string]>([
    ['no header', '203.0.113.9', undefined, '203.0.113.9'],
    ['a stranger may write what it likes', '203.0.113.9', '1.1.1.1', '203.0.113.9'],
    ['one proxy', '10.1.2.3', '198.51.100.4', '198.51.100.4'],
    ['a forged entry on the left', '10.1.2.3', '1.1.1.1, 198.51.100.4', '198.51.100.4'],
    ['two proxies', '10.1.2.3', '1.1.1.1, 198.51.100.4, 192.0.2.7', '198.51.100.4'],
    ['a forged proxy on the left', '10.1.2.3', '10.9.9.9, 198.51.100.4', '198.51.100.4'],
    ['only proxies', '10.1.2.3', '10.9.9.9, 192.0.2.7', '10.9.9.9'],
    ['no address in the header', '10.1.2.3', 'unknown', '10.1.2.3'],
    ['an address after nonsense', '10.1.2.3', '198.51.100.4, unknown', '10.1.2.3'],
    ['an empty header', '10.1.2.3', '', '10.1.2.3'],
    ['IPv4 inside IPv6', '::ffff:10.1.2.3', '198.51.100.4', '198.51.100.4'],
    ['IPv4 inside IPv6 in the header', '10.1.2.3', '::ffff:198.51.100.4', '198.51.100.4'],
    ['an IPv6 proxy', '2001:db8:1::5', '2001:db8:2::9', '2001:db8:2::9'],
    ['an IPv6 stranger', '2001:db8:2::5', '1.1.1.1', '2001:db8:2::5'],
    ['IPv4 with a port', '10.1.2.3', '198.51.100.4:4711', '198.51.100.4'],
    ['IPv6 with a port', '10.1.2.3', '[2001:db8:2::9]:4711', '2001:db8:2::9'],
    ['IPv6 in brackets', '10.1.2.3', '[2001:db8:2::9]', '2001:db8:2::9'],
    ['proxies with ports', '10.1.2.3', '1.1.1.1:1, 198.51.100.4:2, 192.0.2.7:3', '198.51.100.4'],
    ['a port alone', '10.1.2.3', ':4711', '10.1.2.3'],
    ['no connection known', undefined, '1.1.1.1', ''],
  ])('%s', (_, remote, forwarded, address) => {
    expect(seen(remote, forwarded)).toBe(address);
  });

  test('what is no address cannot be trusted', () => {
    expect(() => proxyTrust(['proxy.example'])).toThrow('proxy.example');
    expect(() => proxyTrust(['10.0.0.0/x'])).toThrow();
    expect(() => proxyTrust(['10.0.0.0/33'])).toThrow();
  });
});

describe('contract: Requests must use HTTPS', () => {
  test.each<[string, { encrypted?: boolean; remote?: string; proto?: string }, boolean]>([
    ['a TLS connection', { encrypted: true }, true],
    ['a plain one', { remote: '203.0.113.9' }, false],
    ['a stranger that says https', { remote: '203.0.113.9', proto: 'https' }, false],
    ['a proxy of ours that says https', { remote: '10.1.2.3', proto: 'https' }, true],
    ['in capitals', { remote: '10.1.2.3', proto: 'HTTPS' }, true],
    ['a proxy of ours that says http', { remote: '10.1.2.3', proto: 'http' }, false],
    ['a client that wrote https before it', { remote: '10.1.2.3', proto: 'https, http' }, false],
    ['a proxy that says nothing', { remote: '10.1.2.3' }, false],
    ['no connection known', { proto: 'https' }, false],
  ])('%s: %#', (_, { encrypted = false, remote, proto }, secure) => {
    const facts = { remoteAddress: remote, forwardedFor: undefined, forwardedProto: proto, encrypted };
    expect(cameByHttps(facts, trust)).toBe(secure);
  });
});

describe('contract: Limits, per IP', () => {
  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:aaaa::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['64:ff9b::198.51.100.4', '64:ff9b:0:0::/64'],
    ['::2:3:4:5:6:198.51.100.4', '0:2:3:4::/64'],
  ])('%s is counted as %s', (address, counted) => {
    expect(countedAddress(address)).toBe(counted);
  });
});

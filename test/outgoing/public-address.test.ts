/** Which addresses count as public: IPv4 against the registry, IPv6 at the edges of each of its parts. */
import { BlockList } from 'node:net';
import { describe, expect, test } from 'vitest';
import { isInside, isPublicAddress, parseNetwork } from '../../src/outgoing/public-address.ts';

/** IANA's IPv4 Special-Purpose Address Registry, multicast, and what is reserved for later. */
const special4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...[
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
  ],
  ...['192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
];

test('of IPv4, exactly those are public that no registry sets apart', () => {
  const apart = new BlockList();
  for (const network of special4) {
    const [address = '', bits] = network.split('/');
    apart.addSubnet(address, Number(bits), 'ipv4');
  }
  /** The first numbers below which something is set apart that is smaller than all of them. */
  const parted = new Set(special4.map((network) => Number(network.split('.')[0])));
  const every = Array.from({ length: 256 }, (_, n) => n);
  const wrong: string[] = [];
  for (const first of every) {
    for (const second of parted.has(first) ? every : [0, 255]) {
      for (const third of parted.has(first) ? [0, 2, 48, 99, 100, 113, 193, 196, 255] : [0]) {
        const address = `${first}.${second}.${third}.1`;
        if (isPublicAddress(address) === apart.check(address)) wrong.push(address);
      }
    }
  }
  expect(wrong).toEqual([]);
});

describe('public', () => {
  test.each([
    ...[
      '1.1.1.1',
      '8.8.8.8',
      '100.63.255.255',
      '100.128.0.0',
      '172.15.255.255',
      '172.32.0.0',
      '168.63.129.15',
    ],
    ...['223.255.255.255', '2000::', '2001:4860:4860::8888', '2606:4700::1111', '2003::1', '3ffe:ffff::1'],
  ])('%s', (address) => expect(isPublicAddress(address)).toBe(true));
});

describe('not public', () => {
  test.each([
    ...[
      '',
      'localhost',
      'hooks.example',
      '8.8.8.8:443',
      '[2606:4700::1111]',
      ' 8.8.8.8',
      '8.8.8.8/32',
      '1:2',
    ],
    ...['0177.0.0.1', '010.8.8.8', '8.8.8', '134744072', '0x8.8.8.8', '8.8.8.8.', '8.8.8.256', '-8.8.8.8'],
    ...[
      '2606:4700::1111%lo',
      'fe80::1%eth0',
      '168.63.129.16',
      '1fff:ffff::1',
      '4000::',
      '::7f00:1',
      '::ffff:8.8.8.8',
    ],
  ])('%j', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('a network of the operator has', () => {
  test.each([
    ['10.1.0.0/16', ['10.1.0.0', '10.1.255.255'], ['10.0.255.255', '10.2.0.0', '::ffff:10.1.0.1', 'fd00::1']],
    ['10.1.2.3/16', ['10.1.0.0'], ['10.2.0.0']],
    ['10.1.2.3', ['10.1.2.3'], ['10.1.2.2', '10.1.2.4', '10.1.2.3.', '']],
    ['10.1.2.2/31', ['10.1.2.2', '10.1.2.3'], ['10.1.2.1', '10.1.2.4']],
    ['fd00::/8', ['fd00::', 'fdff::1'], ['fc00::1', 'fe00::1', '253.0.0.1']],
    ['fd00::1', ['fd00::1'], ['fd00::', 'fd00::2']],
  ])('%s', (network, inside, outside) => {
    const judged = [...inside, ...outside].filter((address) => isInside([network], address));
    expect(judged).toEqual(inside);
  });

  test('nothing when it is none', () => {
    const none = ['lan', '', '10.0.0.0/33', '10.0.0.0/', '/8', 'fd00::/129', '10.0.0.0/8/9'];
    expect(none.map(parseNetwork)).toEqual(none.map(() => undefined));
    expect(isInside(none, '10.0.0.0')).toBe(false);
  });

  test('what one of several has', () => {
    expect(isInside(['fd00::/8', '10.0.0.0/8', '192.168.0.0/16'], '10.9.9.9')).toBe(true);
    expect(isInside([], '10.9.9.9')).toBe(false);
  });
});

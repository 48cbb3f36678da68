/** Where a request comes from, and whether by HTTPS, as far as the proxies in between are trusted. */
import { BlockList, isIP, type Socket } from 'node:net';
import type { Context } from 'hono';
import { memoize } from '../../lib/memoize.ts';
import { setHeader } from './answer.ts';
import type { FrameStep } from './framed.ts';

export interface ProxyTrust {
  /** Whether this address is one of our own proxies. */
  trusts(address: string): boolean;
}

/** `proxies`: addresses or networks such as `10.0.0.0/8`; throws on anything else. */
export function proxyTrust(proxies: readonly string[]): ProxyTrust {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = isIP(address);
    if (family === 0) throw new Error(`a trusted proxy must be an address or a network: ${proxy}`);
    const type = family === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, type);
    else list.addSubnet(address, Number(bits), type);
  }
  return {
    trusts: memoize((address) => {
      const plain = unmapped(address);
      const family = isIP(plain);
      return family !== 0 && list.check(plain, family === 4 ? 'ipv4' : 'ipv6');
    }),
  };
}

/** Without the port that some proxies write behind an address: `198.51.100.7:4711`, `[2001:db8::7]:4711`. */
const withoutPort = (hop: string) =>
  hop.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');

/** `::ffff:10.0.0.1` is 10.0.0.1. */
const unmapped = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '');

interface ForwardedFacts {
  /** The other end of the connection. */
  remoteAddress: string | undefined;
  /** `X-Forwarded-For`, as it came. */
  forwardedFor: string | undefined;
  forwardedProto: string | undefined;
}

/** The first address from the right that is not one of our proxies: any client can write what stands left of it. */
export function clientAddress(facts: ForwardedFacts, trust: ProxyTrust): string {
  const hops = (facts.forwardedFor ?? '').split(',').map((hop) => hop.trim());
  let address = unmapped(facts.remoteAddress ?? '');
  while (trust.trusts(address)) {
    const hop = unmapped(withoutPort(hops.pop() ?? ''));
    if (isIP(hop) === 0) break;
    address = hop;
  }
  return address;
}

/** Whether the client spoke TLS: to us, or to a proxy of ours that says so. */
export function cameByHttps(facts: ForwardedFacts & { encrypted: boolean }, trust: ProxyTrust): boolean {
  if (facts.encrypted) return true;
  if (!facts.remoteAddress || !trust.trusts(facts.remoteAddress)) return false;
  return facts.forwardedProto?.split(',').at(-1)?.trim().toLowerCase() === 'https';
}

/** The form under which an address is counted: IPv6 by its /64, which one customer has whole. */
export function countedAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  // A tail in IPv4's spelling stands for two groups, which are never among the first four.
  const plain = address
    .toLowerCase()
    .replace(/%.*$/, '')
    .replace(/\d+(?:\.\d+){3}$/, '0:0');
  const [head = '', tail = ''] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === '' ? [] : tail.split(':');
  const full = address.includes('::')
    ? [...groups, ...Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest]
    : groups;
  return `${full
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

/** What the connection and its proxies say about a request. */
export function forwardedFacts(context: Context): ForwardedFacts & { encrypted: boolean } {
  const socket: Socket | undefined = context.env?.incoming?.socket;
  return {
    remoteAddress: socket?.remoteAddress,
    forwardedFor: context.req.header('x-forwarded-for'),
    forwardedProto: context.req.header('x-forwarded-proto'),
    // Not from the URL: a caller can write `https:` into the request line.
    encrypted: socket !== undefined && 'encrypted' in socket && socket.encrypted === true,
  };
}

/** `refuse` makes the answer; nothing of the request is looked at before. */
export function httpsOnly(deps: { trust: ProxyTrust; refuse: (context: Context) => Response }): FrameStep {
  return {
    before(context) {
      if (cameByHttps(forwardedFacts(context), deps.trust)) return undefined;
      // Answered before the cross-origin rules, so the header that they would set is set here.
      setHeader(context, 'vary', 'Origin');
      return deps.refuse(context);
    },
  };
}

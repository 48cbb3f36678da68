/** Which addresses are on the open internet, and which may be a machine of our own. */
import ipaddr from 'ipaddr.js';

/** All that is given out on the open internet; the rest of IPv6 is reserved, or carries IPv4 in some way. */
const IPV6_GIVEN_OUT = ipaddr.parseCIDR('2000::/3');
/** Looks public, and answers every machine of a cloud with its settings and secrets (Azure). */
const CLOUD_OWN = new Set(['168.63.129.16']);

/**
 * Whether an address, as DNS or a URL's host without brackets has it, can be reached from everywhere: loopback,
 * private, link-local, shared, documentation, multicast and translated addresses (IPv4-mapped, NAT64, 6to4, Teredo) are
 * not. A text that is not an address is not public.
 */
export function isPublicAddress(address: string): boolean {
  // A zone names an interface of this machine.
  if (address.includes('%') || !ipaddr.isValid(address)) return false;
  // 0177.0.0.1 is written as no resolver and no URL writes it: what it means is not worth a guess.
  if (!address.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || CLOUD_OWN.has(parsed.toString())) return false;
  return parsed.kind() === 'ipv4' || parsed.match(IPV6_GIVEN_OUT);
}

/** A network as `10.0.0.0/8`, or a single address; undefined when the text is neither. */
export function parseNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** Whether an address is in one of the networks; one that is not in its plain form is in none. */
export function isInside(networks: readonly string[], address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  return networks.some((text) => {
    const network = parseNetwork(text);
    return network?.[0].kind() === parsed.kind() && parsed.match(network);
  });
}

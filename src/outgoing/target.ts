/** Where a request to a stranger's URL may go: what the URL may say, and the addresses of its name. */
import { isIP } from 'node:net';
import { parseUrl } from '../lib/url.ts';
import { isInside, isPublicAddress } from './public-address.ts';

/**
 * `public`: HTTPS to 443 and the `ports` beside it, and only to addresses on the open internet or in one of the
 * `networks` (`10.1.0.0/16`) that the operator names. `any`: HTTP too, to every port and address, for a developer's own
 * machine.
 */
export type Reach = { to: 'public'; ports: readonly number[]; networks: readonly string[] } | { to: 'any' };

export interface TargetDeps {
  reach: Reach;
  /** All addresses of a name, of both families; rejects when DNS gives no answer. */
  addressesOf(name: string): Promise<string[]>;
}

export interface Target {
  url: URL;
  /** Absent when the URL has an address itself. Without the root's dot, as certificates have it. */
  name?: string;
  /** Checked, and the only ones to connect to. */
  addresses: { address: string; family: 4 | 6 }[];
}

const HTTPS_PORT = 443;
const URL_LENGTH_MAX = 2_048;

const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, '');

/** Whether requests may go to an address. */
export const mayReach = (reach: Reach, address: string): boolean =>
  reach.to === 'any' || isPublicAddress(address) || isInside(reach.networks, address);

/** What keeps requests from going to a URL, as a sentence without its subject; undefined when nothing in it does. */
export function refuseUrl(reach: Reach, text: string): string | undefined {
  if (text.length > URL_LENGTH_MAX) return `is longer than ${URL_LENGTH_MAX} characters`;
  const url = parseUrl(text);
  if (!url) return 'is not a URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return `has the scheme ${url.protocol}, not https:`;
  if (url.username || url.password) return 'has a user name or password in it';
  if (reach.to === 'any') return undefined;
  if (url.protocol !== 'https:') return 'is not HTTPS';
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  const ports = [HTTPS_PORT, ...reach.ports];
  if (!ports.includes(port)) return `has the port ${port}, which is not ${ports.join(' or ')}`;
  const host = hostOf(url);
  if (isIP(host) && !mayReach(reach, host)) return 'has an address that is not public';
  return undefined;
}

/**
 * The addresses behind a URL, asked for once and all of them checked: the caller connects to these, so that a name
 * that means something else a moment later leads nowhere. Else what is wrong, for people.
 */
export async function findTarget(deps: TargetDeps, text: string): Promise<Target | { why: string }> {
  const refused = refuseUrl(deps.reach, text);
  if (refused) return { why: `the URL ${refused}` };
  const url = new URL(text);
  const host = hostOf(url);
  const literal = isIP(host);
  const found = literal ? [host] : await deps.addressesOf(host).catch(() => undefined);
  if (!found) return { why: `DNS gave no answer for ${host}` };
  // One that is not public beside others is an attempt, or a mistake that would fail now and then.
  if (!found.every((address) => mayReach(deps.reach, address))) {
    return { why: `${host} has an address that is not public` };
  }
  const addresses = found.flatMap((address) => {
    const family = isIP(address);
    return family === 4 || family === 6 ? [{ address, family } as const] : [];
  });
  if (addresses.length === 0) return { why: `${host} has no address` };
  return { url, addresses, ...(!literal && { name: host.replace(/\.$/, '') }) };
}

/** The rows of the settings of `rewards start` that concern where it listens, who may stand before it, and where it may ask. */
import { durationBetween, list, port, text, wholeNumber } from '../lib/setting.ts';
import { problemOf } from './start-errors.ts';
import {
  asksApi,
  type Fault,
  fault,
  holdsStrangers,
  hostNameFault,
  isBindAddress,
  isNetwork,
  isNetworkOrAll,
  setting,
} from './start-setting.ts';

const LOOPBACK = '127.0.0.1';
const DAY_MS = 86_400_000;

const bindAddressFault = (address: string, name: string): Fault[] =>
  isBindAddress(address)
    ? []
    : [
        fault(
          `${name}: ${address} is neither an address nor a host name`,
          'write an address of this machine, 127.0.0.1 for itself alone, or 0.0.0.0 for all of its addresses',
        ),
      ];

export const listenerSettings = {
  bindAddress: setting('--host <address>', text, 'where the API listens', {
    default: LOOPBACK,
    check: bindAddressFault,
    reach: 'listeners',
  }),
  port: setting('-p, --port <n>', port, 'its port; 0 for any free port', {
    default: '8787',
    reach: 'listeners',
  }),
  adminBindAddress: setting('--admin-host <address>', text, 'where /livez, /readyz and /metrics are', {
    default: LOOPBACK,
    check: bindAddressFault,
    reach: 'listeners',
  }),
  adminPort: setting('--admin-port <n>', port, 'their port; 0 for any free port', {
    default: '9464',
    reach: 'listeners',
  }),
  connectionsMax: setting(
    '--connections-max <n>',
    wholeNumber(1, 1_000_000),
    'most connections to the API; further ones are closed at once',
    { default: '5000' },
  ),
  keepAliveMs: setting(
    '--keep-alive <duration>',
    durationBetween(0, DAY_MS),
    'how long an idle connection is kept; longer than the balancer in front keeps it',
    { default: '75s' },
  ),
  publicDomains: setting('--public-host <host...>', list, 'public host names of the API', {
    needed: asksApi,
    check: (domains, name) => domains.flatMap((one) => hostNameFault(name, one)),
  }),
  trustedProxies: setting(
    '--trust-proxy <network...>',
    list,
    'proxies whose headers about the caller and TLS are trusted',
    {
      // The service itself speaks plain HTTP, so that without a proxy every request is refused.
      needed: asksApi,
      check: (proxies, name) =>
        proxies.flatMap((one) =>
          isNetworkOrAll(one)
            ? []
            : fault(
                `${name}: ${one} is not an address or a network`,
                'write an address such as 10.0.0.7 or a network such as 10.0.0.0/8, not a name',
              ),
        ),
      unsafe: (proxies, config) =>
        asksApi(config) && proxies.some(holdsStrangers)
          ? problemOf('E_PROD_TRUST_PROXY', {
              message: `REWARDS_TRUST_PROXY=${proxies.filter(holdsStrangers).join(',')} trusts strangers: anybody in it can name any address as the caller's, and plain HTTP as TLS`,
            })
          : undefined,
    },
  ),
  outgoingPorts: setting('--outgoing-port <port...>', list, 'ports beside 443 of the URLs that brands give', {
    check: (ports, name) =>
      ports.flatMap((one) =>
        port.parse(one)
          ? []
          : fault(`${name}: ${one} is not a port from 1 to 65535`, 'write numbers, such as 8443'),
      ),
  }),
  outgoingNetworks: setting(
    '--outgoing-network <network...>',
    list,
    'networks that are not public and that URLs of brands may lead to all the same',
    {
      check: (networks, name) =>
        networks.flatMap((one) =>
          isNetwork(one)
            ? []
            : fault(
                `${name}: ${one} is not a network such as 10.1.0.0/16, or an address`,
                'write the network that the URLs may lead to, such as 10.1.0.0/16',
              ),
        ),
    },
  ),
};

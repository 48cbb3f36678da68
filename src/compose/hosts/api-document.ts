/** The OpenAPI documents of the hosts, without a running service. */

import { controlHostContract } from '../../contract/control/host.ts';
import type { HostContract } from '../../contract/endpoint.ts';
import { eventsHostContract } from '../../contract/events/host.ts';
import { registerHostContract } from '../../contract/register/host.ts';
import { relayHostContract } from '../../contract/relay/host.ts';
import { servicesHostContract } from '../../contract/services/host.ts';
import { type ApiDocument, apiDocument } from '../../http/openapi.ts';
import { settings } from '../config.ts';

const describedHosts = ['events', 'register', 'services', 'relay', 'control'] as const;
export type DescribedHost = (typeof describedHosts)[number];

const contracts: Record<DescribedHost, HostContract> = {
  events: eventsHostContract,
  register: registerHostContract,
  services: servicesHostContract,
  relay: relayHostContract,
  control: controlHostContract,
};

/** `origin` is the address of the service, without a trailing slash. */
export function apiDocumentOf(host: DescribedHost, origin: string): ApiDocument {
  const serverUrl = host === 'control' ? `${origin}/_rewards` : origin;
  const { bodyLimitBytes } = host === 'relay' ? settings.relayHost : settings;
  return apiDocument(contracts[host], { serverUrl, apiPrefix: settings.apiPrefix, bodyLimitBytes });
}

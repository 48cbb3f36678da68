/** The descriptions of the hosts, for whoever wants them without a running service. */

import { controlApi } from '../http/openapi/control-api.ts';
import type { ApiDocument } from '../http/openapi/document.ts';
import { eventsApi } from '../http/openapi/events-api.ts';
import { registerApi } from '../http/openapi/register-api.ts';
import { relayApi } from '../http/openapi/relay-api.ts';
import { settings } from './config.ts';

export const describedHosts = ['events', 'register', 'relay', 'control'] as const;
export type DescribedHost = (typeof describedHosts)[number];

/** `origin` is where the service is; without a slash at its end. */
export function apiDocumentOf(host: DescribedHost, origin: string): ApiDocument {
  if (host === 'control') return controlApi({ serverUrl: `${origin}/_rewards` });
  const { apiPrefix, bodyLimitBytes } = settings;
  if (host === 'relay')
    return relayApi({ serverUrl: origin, bodyLimitBytes: settings.relayHost.bodyLimitBytes });
  if (host === 'register') return registerApi({ serverUrl: origin, apiPrefix, bodyLimitBytes });
  return eventsApi({ serverUrl: origin, apiPrefix, bodyLimitBytes });
}

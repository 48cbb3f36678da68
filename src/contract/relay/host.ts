/** The relay host with all that it offers (contract: Endpoints). */
import {
  API_VERSION,
  commonHostHeaders,
  type HostContract,
  hostHeaders,
  ownDescription,
} from '../endpoint.ts';
import { anywhere, type RelayRefusalCode, relayRefusals } from './refusals.ts';
import { relayEndpoint, relayRefusalBody, relayStatusEndpoint } from './relay.ts';

export const relayHostContract: HostContract<RelayRefusalCode> = {
  title: 'Rewards: relay',
  version: API_VERSION,
  description: ({ bodyLimitBytes }) =>
    [
      "Sends a user's calls to the reward contracts and pays their gas.",
      `Bodies are JSON of at most ${bodyLimitBytes / 1024} KB. A field that is null counts as not sent.`,
      'Only functions that touch nothing but the property of the user can be called: purchases of perks, and transfers that the user signed.',
    ].join('\n\n'),
  tags: [
    { name: 'Relay', description: 'Calls on behalf of users.' },
    { name: 'Service', description: "The host's own description." },
  ],
  endpoints: [relayEndpoint, relayStatusEndpoint, ...ownDescription(anywhere)],
  refusalBody: relayRefusalBody,
  refusals: relayRefusals,
  headers: hostHeaders,
  commonHeaders: commonHostHeaders,
  securitySchemes: {
    userToken: {
      type: 'http',
      scheme: 'bearer',
      description: "An access token of the user, issued by the service's identity provider.",
    },
  },
};

/** The relay host with all that it offers (contract: Endpoints). */
import { hostContract } from '../endpoint.ts';
import { anywhere, type RelayRefusalCode, relayRefusals } from './refusals.ts';
import { relayEndpoint, relayRefusalBody, relayStatusEndpoint } from './relay.ts';

export const relayHostContract = hostContract<RelayRefusalCode>({
  title: 'Rewards: relay',
  description: ({ bodyLimitKb }) => [
    "Sends a user's calls to the reward contracts and pays their gas.",
    `Bodies are JSON of at most ${bodyLimitKb} KB. A field that is null counts as not sent.`,
    'Only functions that touch nothing but the property of the user can be called: purchases of perks, and transfers that the user signed.',
  ],
  tags: [
    { name: 'Relay', description: 'Calls on behalf of users.' },
    { name: 'Service', description: "The host's own description." },
  ],
  endpoints: [relayEndpoint, relayStatusEndpoint],
  refusalBody: relayRefusalBody,
  anywhere,
  refusals: relayRefusals,
  securitySchemes: {
    userToken: {
      type: 'http',
      scheme: 'bearer',
      description: "An access token of the user, issued by the service's identity provider.",
    },
  },
});

/** The register host with all that it offers (contract: Endpoints). */
import {
  API_VERSION,
  commonHostHeaders,
  type HostContract,
  hostHeaders,
  ownDescription,
} from '../endpoint.ts';
import { refusalBody } from '../shared-refusals.ts';
import { pregenerateUserEndpoint } from './pregenerate-user.ts';
import { anywhere, type RegisterRefusalCode, registerRefusals } from './refusals.ts';

export const registerHostContract: HostContract<RegisterRefusalCode> = {
  title: 'Rewards: register',
  version: API_VERSION,
  description: ({ bodyLimitBytes }) =>
    [
      'Gives people wallets before they log in or get their first reward.',
      `Bodies are JSON of at most ${bodyLimitBytes / 1024} KB. A field that is null or empty counts as not sent.`,
    ].join('\n\n'),
  tags: [
    { name: 'Users', description: 'Wallets of people who are known on a chat platform, or by e-mail.' },
    { name: 'Service', description: "The host's own description." },
  ],
  endpoints: [pregenerateUserEndpoint, ...ownDescription(anywhere)],
  refusalBody,
  refusals: registerRefusals,
  headers: hostHeaders,
  commonHeaders: commonHostHeaders,
  securitySchemes: {
    brandKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'A key of the brand, for its own servers; needed where the brand has set so.',
    },
  },
};

/** The register host with all that it offers (contract: Endpoints). */
import { hostContract } from '../endpoint.ts';
import { anywhere, refusalBody } from '../shared-refusals.ts';
import { pregenerateUserEndpoint } from './pregenerate-user.ts';
import { type RegisterRefusalCode, registerRefusals } from './refusals.ts';

export const registerHostContract = hostContract<RegisterRefusalCode>({
  title: 'Rewards: register',
  description: ({ bodyLimitKb }) => [
    'Gives people wallets before they log in or get their first reward.',
    `Bodies are JSON of at most ${bodyLimitKb} KB. A field that is null or empty counts as not sent.`,
  ],
  tags: [
    { name: 'Users', description: 'Wallets of people known by a chat account or an e-mail.' },
    { name: 'Service', description: "The host's own description." },
  ],
  endpoints: [pregenerateUserEndpoint],
  refusalBody,
  anywhere,
  refusals: registerRefusals,
  securitySchemes: {
    brandKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'A key of the brand, for its own servers; required if the brand has set so.',
    },
  },
});

/** The emulator's control host with all that it offers. */
import { z } from 'zod';
import { type HostContract, named, retryHeader } from '../endpoint.ts';
import { controlEndpoints } from './endpoints.ts';
import { type ControlRefusalCode, controlRefusals } from './refusals/control-refusals.ts';

const controlProblem = z.object({
  success: z.literal(false),
  error: z.string(),
  message: z.string(),
  details: z.looseObject({ reason: z.string().optional() }),
});

export const controlHostContract: HostContract<ControlRefusalCode> = {
  title: 'Rewards: controls of the emulator',
  version: '1',
  description: () =>
    'Moves the clock of the emulator, looks back on requests, and manages brands. It is part of `rewards serve` only, and answers only to the machine that it runs on.',
  tags: [
    { name: 'Overview', description: 'What happens now, and what needs a look.' },
    { name: 'Clock', description: 'The one clock that everything follows.' },
    { name: 'Requests', description: 'What was sent, and how it was decided.' },
    {
      name: 'Brands',
      description: 'Brands, their rules and keys. A brand is named by its id or by a domain.',
    },
    { name: 'Perks', description: 'What brands offer for RWT. A perk is named by its id or its token.' },
    { name: 'Tokens', description: 'Tokens of users, as a login would give them.' },
    { name: 'Wallets', description: 'Which user has which wallet.' },
    { name: 'Users', description: 'Who was rewarded, and everything about one user.' },
    {
      name: 'Webhooks',
      description: 'Where brands are told of rewards, what was delivered, and the built-in receiver.',
    },
    { name: 'Chain', description: 'Blocks, transactions in words, contracts, and what our accounts own.' },
    { name: 'Relay', description: 'What users have used of its limits, whose gas it spends, and who sends.' },
    {
      name: 'Processor',
      description:
        'The emulated payment processor: what buyers, banks and the merchant do, and what it tells.',
    },
    {
      name: 'Constraints',
      description:
        'What buyers of perks must fulfil, and the emulated chat in which they have levels and roles.',
    },
    { name: 'Site', description: 'The demo site: what happens there, and who can log in to it.' },
    { name: 'Faults', description: 'What is outside of the service, and fails on purpose.' },
    {
      name: 'Snapshots',
      description: 'Ledger, chain, processor, webhooks, site and clock together, saved and brought back.',
    },
    {
      name: 'Jobs',
      description: 'Load tests of the stack, and scenarios, each in a process of its own.',
    },
    { name: 'Money', description: 'Whether every promised reward was paid exactly once.' },
    { name: 'Description', description: 'This description.' },
  ],
  endpoints: controlEndpoints,
  refusalBody: named('Refusal', controlProblem),
  refusals: controlRefusals,
  headers: retryHeader,
  commonHeaders: [],
  securitySchemes: {
    controlToken: {
      type: 'http',
      scheme: 'bearer',
      description:
        'The `controlToken` of the ready line; needed for everything but this description. A browser that opens the link of the banner may read as well.',
    },
  },
};

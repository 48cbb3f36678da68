/** GET events/<eventId>: how far a reward is, and which transaction pays it now. */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { demo, example } from '../examples.ts';
import { address, rewardState } from '../shapes.ts';
import { anywhere } from '../shared-refusals.ts';
import type { EventsRefusalCode } from './refusals.ts';

const { eventId, rewardAmount, ...progress } = rewardState.shape;

export const eventState = z.object({
  success: z.literal(true),
  eventId,
  brandId: address(),
  eventType: z.string(),
  rewardAmount,
  walletAddress: address().meta({ description: "The user's wallet." }),
  ...progress,
});
export type EventState = z.output<typeof eventState>;

const { walletAddress, transactionHash } = example;

export const eventStateEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'eventState',
  tag: 'Events',
  method: 'get',
  path: '/events/{eventId}',
  prefixed: true,
  summary: 'How far a reward is, and which transaction pays it now',
  description:
    'The id is in the answer to the event, and nobody can guess it: whoever has it may ask. A transaction that no block takes is replaced by one under another hash.',
  parameters: [
    {
      in: 'path',
      schema: z.object({ eventId: z.string().meta({ description: "The answer's `eventId`." }) }),
    },
  ],
  examples: [{ summary: 'By its id', path: { eventId: example.eventId } }],
  answers: {
    200: {
      description: 'Its state.',
      body: named('EventState', eventState),
      example: {
        success: true,
        eventId: example.eventId,
        brandId: demo.brandId,
        eventType: 'account_creation',
        rewardAmount: 100,
        walletAddress,
        status: 'included',
        transactionHash,
        blockNumber: 1_204,
        reason: null,
      },
    },
  },
  refusals: ['event_unknown', ...anywhere],
};

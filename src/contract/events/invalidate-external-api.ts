/** POST /constraint-updater/invalidate-external-api (contract: Endpoints, Cache invalidation request). */
import { z } from 'zod';
import { CONSTRAINT_URL_MAX, constraintUrlKey } from '../../rules/constraint.ts';
import { addressKey } from '../../rules/user-key.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { example } from '../examples.ts';
import { ADDRESS_PROBLEM, count, OBJECT_PROBLEM } from '../shapes.ts';
import { type EventsRefusalCode, withBody } from './refusals.ts';

const URL_PROBLEM = `must be a web address of at most ${CONSTRAINT_URL_MAX} characters, without a user name or password in it`;
const COLLECTION_PROBLEM = "must be a perk's id on chain: a whole number from 0";

/** A text, read; what `read` does not know is refused with `problem`. */
const readAs = <T>(problem: string, read: (text: string) => T | undefined) =>
  z.string({ error: problem }).transform((text, context): T => {
    const value = read(text.trim());
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: problem, input: text });
    return z.NEVER;
  });

/** Digits, as clients send them that keep ids as text. */
const collectionId = z
  .union(
    [
      z.int().min(0),
      z
        .string()
        .regex(/^\d{1,15}$/)
        .transform(Number),
    ],
    { error: COLLECTION_PROBLEM },
  )
  .meta({ description: 'Only results for this perk, by its id on chain.' });

/** An optional field that is null or empty counts as not sent. */
export const invalidationBody = z.object(
  {
    api_url: readAs(URL_PROBLEM, constraintUrlKey).meta({
      description: 'The URL of the constraint whose results are forgotten.',
      maxLength: CONSTRAINT_URL_MAX,
    }),
    user_address: readAs(ADDRESS_PROBLEM, addressKey)
      .optional()
      .meta({ description: "Only this user's results, by the user's wallet." }),
    collection_id: collectionId.optional(),
  },
  { error: OBJECT_PROBLEM },
);
export type Invalidation = z.output<typeof invalidationBody>;

export const invalidationResult = z.object({
  success: z.literal(true),
  message: z.string().meta({ description: 'For people.' }),
  invalidated_count: count().meta({ description: 'Results that counted until now, and no longer do.' }),
});
export type InvalidationResult = z.output<typeof invalidationResult>;

const api_url = 'https://api.demo.example/eligible';

export const invalidateExternalApiEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'invalidateExternalApi',
  tag: 'Constraints',
  method: 'post',
  path: '/constraint-updater/invalidate-external-api',
  summary: "Forget what a constraint's URL has said about buyers",
  description: [
    "What a brand's server says about a buyer counts until its TTL is over. When the brand changes its mind, about everybody, one user or one perk, it says so here, and the next check asks again; an answer that is under way is used once and not kept.",
    'Transfers of RWT invalidate all results of the two wallets by themselves.',
  ].join('\n\n'),
  key: { scheme: 'brandKey', required: true },
  body: named('Invalidation', invalidationBody),
  examples: [
    { summary: 'Everybody', body: { api_url } },
    { summary: 'One user', body: { api_url, user_address: example.walletAddress } },
    {
      summary: 'One user and one perk',
      body: { api_url, user_address: example.walletAddress, collection_id: 3 },
    },
  ],
  answers: {
    200: {
      description: 'How many results were forgotten; 0 when there were none.',
      body: named('InvalidationResult', invalidationResult),
      example: { success: true, message: 'Invalidated 3 results', invalidated_count: 3 },
    },
  },
  refusals: [...withBody, 'api_key_required', 'missing_required_field', 'invalid_invalidation'],
};

/** Seed files, as the control API compares and applies them. */
import { z } from 'zod';
import { named } from '../endpoint.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';

/** Several files of the size that a fixture may have. */
const FILES_MAX_BYTES = 8 * 1024 * 1024;
const name = () => z.string().nullable();

const seedRequest = z.object({
  apply: z.boolean().default(false).meta({ description: 'False only compares.' }),
  files: z
    .array(z.object({ name: z.string(), text: z.string() }))
    .optional()
    .meta({ description: 'Default: the files that the stack was started with.' }),
});

const seedResult = z.object({
  applied: z.boolean(),
  changes: z
    .array(
      z.object({
        brandId: z.string(),
        brand: z.string(),
        eventType: name().meta({ description: 'Null for a setting of the brand itself.' }),
        setting: name().meta({ description: 'Null where the whole brand or rule is new.' }),
        from: name(),
        to: name(),
      }),
    )
    .meta({ description: 'What the files change, or have changed, in the ledger.' }),
});

export const seed = endpoint('POST /seed', {
  id: 'seed',
  tag: 'Brands',
  summary: 'Compare seed files with the ledger, or apply them',
  description:
    'Brands and rules of the files become what the files say; others stay. A new brand gets its opening deposit, gas wallet and perks.',
  body: named('SeedWish', seedRequest),
  bodyMaxBytes: FILES_MAX_BYTES,
  unfit: () => ({ code: 'invalid_body' }),
  example: { body: { apply: false } },
  answer: { description: 'The differences.', body: named('SeedResult', seedResult) },
  refusals: ['invalid_body', 'invalid_fixture'],
});

export type SeedAnswer = AnswerOf<typeof seed>;

/** Shapes that many fields have: each once, with its message. */
import { z } from 'zod';
import type { Hex } from '../lib/hex.ts';
import { sanitiseText } from '../rules/sanitise.ts';
import { addressKey, EMAIL_MAX, EMAIL_PATTERN } from '../rules/user-key.ts';

export const ADDRESS_PROBLEM = 'must be an address: 0x and 40 hex digits';
export const EMAIL_PROBLEM = 'must be a valid e-mail address';
export const DOMAIN_PROBLEM = 'must be a valid domain';
export const OBJECT_PROBLEM = 'must be a JSON object';

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const HASH = /^0x[0-9a-f]{64}$/;

/** The message for what is not a text: a field that is null counts as not sent. */
export const orRequired =
  (problem: string) =>
  ({ input }: { input?: unknown }): string =>
    input === undefined || input === null ? 'is required' : problem;

/** An address in an answer. */
export const address = () => z.string().regex(ADDRESS);
export const hash = () => z.string().regex(HASH);
/** RFC 3339, in UTC. */
export const instant = () => z.iso.datetime();
export const count = () => z.int().min(0);
export const rwt = () => z.int().meta({ description: 'RWT.' });

export const EMAIL_TITLE = 'e-mail address';

/** What is taken where a pattern is too long to be read, by the title that a schema has beside it: the reference tells it once. */
export const takenForms: Record<string, string> = {
  [EMAIL_TITLE]:
    'One plain mailbox of RFC 5322, without a name in front of it: letters, digits and signs with single dots between them, or a quoted text such as `"ann smith"`, then `@` and the name of a host; at most 254 characters. Letters outside ASCII are taken on both sides. Blanks around it are dropped, and case does not count: `Ann@Example.com` and `ann@example.com` are one user. Escapes in quotes and addresses of the form `ann@[192.0.2.1]` are refused.',
};

/** An e-mail in a description: the reference shows its title in place of the pattern. */
export const emailMeta = { title: EMAIL_TITLE, maxLength: EMAIL_MAX, pattern: EMAIL_PATTERN };

/** An address in a request: any case in, lower case out. */
export const addressField = (description: string) =>
  z
    .string({ error: ADDRESS_PROBLEM })
    .regex(ADDRESS, ADDRESS_PROBLEM)
    .transform((text) => text.toLowerCase() as Hex)
    .meta({ description });

/** The description of every `brandId`. */
export const brandIdMeta = {
  description: "The brand's wallet address; any case in, lower case out.",
  pattern: ADDRESS.source,
};

/** A brand's id as a question names it: any case in, lower case out. */
export const brandIdField = z
  .string({ error: orRequired(ADDRESS_PROBLEM) })
  .transform((value, context) => {
    const brandId = addressKey(sanitiseText(value));
    if (brandId) return brandId;
    context.addIssue({ code: 'custom', message: ADDRESS_PROBLEM, input: value });
    return z.NEVER;
  })
  .meta(brandIdMeta);

/** A text without control characters and without blanks around it. */
export const trimmedText = (problem = 'must be a string') =>
  z.string({ error: orRequired(problem) }).transform((value) => sanitiseText(value).trim());

/** Wallets of names that are aliases of the user by now; left out where there are none. */
export const otherWallets = () =>
  z
    .array(z.object({ walletAddress: address(), balance: rwt() }))
    .optional()
    .meta({
      description:
        "Wallets that the user got under names that are aliases by now. What lies there stays there, and is spent as any wallet's: with its own user's consent.",
    });

/** A body's problems, each prefixed with its field, or with `body` when it concerns the whole. */
export const problemsOf = (error: z.ZodError): string[] =>
  error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);

/** How far a reward is, wherever it is told. */
export const rewardState = z.object({
  eventId: z.uuid(),
  rewardAmount: rwt(),
  status: z.enum(['waiting', 'sent', 'included', 'final', 'failed']).meta({
    id: 'RewardStatus',
    description:
      'waiting: no transaction of effect carries it yet; sent: nodes have its transaction; included: a block has it; final: that block can no longer change; failed: it is not paid, `reason` says why.',
  }),
  transactionHash: hash().nullable().meta({
    description: 'The transaction that pays it now; another than before when it was replaced.',
  }),
  blockNumber: z.int().nullable().meta({ description: 'The block that holds it.' }),
  reason: z.string().nullable().meta({ description: 'Why it failed.' }),
});

/** The question of user-balance: whose balance, and how much of the history with it. */
import { z } from 'zod';
import { sanitiseText } from '../../rules/sanitise.ts';
import { addressKey, EMAIL_MAX, emailKey } from '../../rules/user-key.ts';
import { brandIdField } from './brand-id.ts';

/** Contract: historyLimit is at most 50. */
const HISTORY_MAX = 50;
const HISTORY_DEFAULT = 10;

const text = (expected: string) =>
  z.string({ error: expected }).transform((value) => sanitiseText(value).trim());
const includeHistory = z
  .union([z.boolean(), z.enum(['true', 'false']).transform((value) => value === 'true')], {
    error: 'must be true or false',
  })
  .default(false)
  .meta({ description: 'Whether the last rewards from this brand come along.' });
const historyLimit = z.coerce
  .number({ error: `must be a number from 1 to ${HISTORY_MAX}` })
  .int({ error: `must be a number from 1 to ${HISTORY_MAX}` })
  .min(1, { error: `must be a number from 1 to ${HISTORY_MAX}` })
  .max(HISTORY_MAX, { error: `must be a number from 1 to ${HISTORY_MAX}` })
  .default(HISTORY_DEFAULT)
  .meta({ description: 'How many of them.' });

const EMAIL = 'must be a valid e-mail address';

export const userBalanceQuestion = z
  .object(
    {
      brandId: brandIdField,
      userEmail: text(EMAIL)
        .optional()
        .meta({ description: 'Required unless `userIdentifier` is given.', maxLength: EMAIL_MAX }),
      userIdentifier: text('must be an e-mail or an address')
        .optional()
        .meta({ description: 'An e-mail or a blockchain address.' }),
      includeHistory,
      historyLimit,
    },
    { error: 'must be a JSON object' },
  )
  .transform((question, context) => {
    const named = question.userEmail ?? question.userIdentifier ?? '';
    const address = question.userEmail === undefined ? addressKey(named) : undefined;
    const email = address ? undefined : emailKey(named);
    const userKey = address ?? email;
    if (userKey === undefined) {
      context.addIssue({ code: 'custom', path: ['userEmail'], message: EMAIL, input: named });
      return z.NEVER;
    }
    return { ...question, user: { userKey, userAddress: address } };
  });

/** Whatever a registration holds: it is read or refused, and a user who is read is the user of their events. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseManualEvent } from '../../../src/contract/events/submission.ts';
import { registerRefusals } from '../../../src/contract/register/refusals.ts';
import { platformNames } from '../../../src/rules/platforms.ts';
import { readRegistration, registrationFields } from '../../../src/rules/registration.ts';
import { emailKey } from '../../../src/rules/user-key.ts';

const ownDomain = 'rewards.localhost';
const brandId = `0x${'a'.repeat(40)}`;
const anything = fc.oneof(fc.anything({ maxDepth: 2 }), fc.string({ unit: 'binary' }), fc.double());

test('anything at all is read or refused, never thrown at', () => {
  fc.assert(
    fc.property(
      fc.record(Object.fromEntries(registrationFields.map((field) => [field, anything]))),
      (fields) => {
        const read = readRegistration(fields, { ownDomain });
        if ('registration' in read) {
          expect(emailKey(read.registration.userKey)).toBe(read.registration.userKey);
        } else {
          const { status, body } = registerRefusals.answer(read.problem, { nowMs: 0 });
          expect([status, body.success, body.message.length > 0]).toEqual([400, false, true]);
          expect(() => JSON.stringify(body)).not.toThrow();
        }
      },
    ),
    { numRuns: 5_000 },
  );
});

const digits = fc.stringMatching(/^[0-9]{1,21}$/);
const spaced = (text: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.constantFrom('', ' ', '\t', '\u200e'), text, fc.constantFrom('', ' ', '\n'))
    .map((parts) => parts.join(''));

test('a user of a platform is the user of the events of that platform', () => {
  const accounts = fc.record({
    oauth_provider: fc.constantFrom(...platformNames, ...platformNames.map((name) => name.toUpperCase())),
    oauth_user_id: spaced(digits),
    oauth_username: fc.string({ minLength: 1, maxLength: 20 }),
  });
  let readable = 0;
  fc.assert(
    fc.property(accounts, (account) => {
      const read = readRegistration({ brand_id: brandId, ...account }, { ownDomain });
      if ('problem' in read) return;
      readable += 1;
      const event = parseManualEvent(
        {
          brandId,
          eventType: 'x',
          userIdentifier: { platform: account.oauth_provider, platformUserId: account.oauth_user_id },
        },
        { origin: undefined, ownDomain },
      );
      expect('submission' in event && event.submission.userKey).toBe(read.registration.userKey);
    }),
    { numRuns: 3_000 },
  );
  expect(readable).toBeGreaterThan(500);
});

test('two accounts are one user only when they are one account', () => {
  const account = fc.record({
    oauth_provider: fc.constantFrom(...platformNames),
    oauth_user_id: fc.stringMatching(/^[1-9][0-9]{16,17}$/),
  });
  fc.assert(
    fc.property(account, account, (one, other) => {
      const [a, b] = [one, other].map((each) =>
        readRegistration({ brand_id: brandId, oauth_username: 'x', ...each }, { ownDomain }),
      );
      if (!a || !b || 'problem' in a || 'problem' in b) return;
      const same = one.oauth_provider === other.oauth_provider && one.oauth_user_id === other.oauth_user_id;
      expect(a.registration.userKey === b.registration.userKey).toBe(same);
    }),
  );
});

/** No text that the emulator keeps has a secret, however the name of its field is written. */
import { expect, test } from 'vitest';
import { withoutSecrets } from '../../src/emulator/control/request-log.ts';

test.each([
  '{"Pass-Word":"hunter2"}',
  '{"CLIENT__SECRET": "hunter2"}',
  '{"api_key":"hunter2","of":{"a":1}}',
  '{"of":[{"private\u212Aey":"hunter2"}]}',
  '{"p\\u0061ssword":"hunter2"}',
  '{"a":"\\"","cvc":"hunter2"}',
  '{"password":"hunter2',
  'a=1&session-token=hunter2',
  '?jwt=hunter2',
])('%s', (text) => {
  expect(withoutSecrets(text)).not.toContain('hunter2');
  expect(withoutSecrets(text)).toContain('[redacted]');
});

test('a number is hidden too', () => {
  expect(withoutSecrets('{"cvc": 123, "kept": 1}')).toBe('{"cvc":"[redacted]","kept":1}');
});

test.each(['{ "userEmail": "a@b.example",  "amount": 5 }', '{"note":"\\n"}', '', 'a=1&b=2'])(
  'without a secret it comes back as it was: %s',
  (text) => {
    expect(withoutSecrets(text)).toBe(text);
  },
);

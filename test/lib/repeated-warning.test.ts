/** A warning that is said when it changes, and else once an hour. */
import { expect, test } from 'vitest';
import { createRepeatedWarning } from '../../src/lib/failures/failure-log.ts';
import { type LogFields, silentLog } from '../../src/lib/log.ts';

test('said at once, when it changes, after an end, and once an hour with how often it was meanwhile', () => {
  const lines: [LogFields, string][] = [];
  let nowMs = 0;
  const log = {
    ...silentLog,
    warn: (fields: LogFields, message: string) => void lines.push([fields, message]),
  };
  const warning = createRepeatedWarning({ log, nowMs: () => nowMs });
  const say = (about: string, what: string) => warning.say(about, what, { fields: { about }, message: what });
  for (let second = 0; second < 3_600; second++) {
    nowMs = second * 1_000;
    say('lane', 'no money');
  }
  expect(lines).toEqual([[{ about: 'lane' }, 'no money']]);
  nowMs = 3_600_000;
  say('lane', 'no money');
  expect(lines.at(-1)).toEqual([{ about: 'lane', times: 3_600 }, 'no money']);
  say('lane', 'pool full');
  say('other', 'pool full');
  say('lane', 'pool full');
  expect(lines.slice(2)).toEqual([
    [{ about: 'lane' }, 'pool full'],
    [{ about: 'other' }, 'pool full'],
  ]);
  warning.over('lane');
  say('lane', 'pool full');
  expect(lines.slice(4)).toEqual([[{ about: 'lane' }, 'pool full']]);
  // A clock that was set back by an hour and more does not silence it.
  nowMs = -1;
  say('lane', 'pool full');
  expect(lines).toHaveLength(6);
});

/** Scopes hold over what their work awaits, and for nobody else. */
import { expect, test } from 'vitest';
import { createAsyncContext } from '../../src/lib/async-context.ts';
import { delay } from '../../src/lib/timers.ts';

test('a value holds over all that the work awaits, and not outside of it', async () => {
  const scope = createAsyncContext<string>();
  const inside = async () => {
    const before = scope.current();
    await delay(1);
    return [before, scope.current()];
  };
  const [one, other, none] = await Promise.all([
    scope.run('one', inside),
    scope.run('other', inside),
    inside(),
  ]);
  expect([one, other, none]).toEqual([
    ['one', 'one'],
    ['other', 'other'],
    [undefined, undefined],
  ]);
  expect(scope.current()).toBe(undefined);
});

test('scopes inside one another keep their own values; the innermost of one scope counts', () => {
  const [scope, another] = [createAsyncContext<number>(), createAsyncContext<number>()];
  const both = () => [scope.current(), another.current()];
  scope.run(1, () => {
    expect(both()).toEqual([1, undefined]);
    another.run(2, () => {
      expect(both()).toEqual([1, 2]);
      scope.run(3, () => expect(both()).toEqual([3, 2]));
      expect(both()).toEqual([1, 2]);
    });
    expect(both()).toEqual([1, undefined]);
  });
});

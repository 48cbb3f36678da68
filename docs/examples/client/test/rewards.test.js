import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRewards } from '../rewards.js';

const rewards = createRewards();
/** What the brand pays for a new account; the test fails when the brand changes its mind. */
const expected = Number(process.env.EXPECTED_REWARD ?? 100);

test('a new account is rewarded, once', async () => {
  const user = 'carol@demo.example';
  const reward = await rewards.send('account_creation', user);
  assert.equal(reward.amount, expected);
  assert.match(reward.transaction, /^0x[0-9a-f]{64}$/);
  assert.equal(await rewards.balance(user), expected);

  const again = await rewards.send('account_creation', user);
  assert.deepEqual(again, { rewarded: false, why: again.why, status: 409 });
  assert.equal(await rewards.balance(user), expected);
});

test('an event that the brand does not know is refused', async () => {
  const { rewarded, why } = await rewards.send('moon_landing', 'carol@demo.example');
  assert.equal(rewarded, false);
  assert.ok(why.length > 0);
});

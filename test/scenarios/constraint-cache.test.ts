/** A scenario with a brand's own server, whose address the command line gives: what it says is kept, until it is invalidated or too old. */
import { expect, test } from 'vitest';
import { stubService } from '../cli/stub-service.ts';
import { rewardsJson } from '../kits/service/cli.ts';

const file = new URL('fixtures/constraint-cache.yaml', import.meta.url).pathname;

test('the cache of constraints is asked, invalidated and asked again', async () => {
  let asked = 0;
  const server = await stubService(() => ({ body: { eligible: ++asked === 1 } }));
  const { envelope } = await rewardsJson(['scenario', 'run', file, '--var', `url=${server.url}/eligible`]);
  await server.close();
  expect([envelope.error, envelope.data.totals]).toEqual([undefined, { passed: 1, failed: 0, skipped: 0 }]);
  // Once for three looks, once after the invalidation, once after the hour.
  expect(asked).toBe(3);
});

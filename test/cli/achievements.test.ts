/** `rewards achievements` against a real service, as text and as JSON. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const target = () => ['--target', service.ready.urls.events];
const env = () => ({ REWARDS_CONTROL_TOKEN: service.ready.controlToken, REWARDS_API_KEY: '' });
const run = (...args: string[]) => rewards(['achievements', ...args, ...target()], { env: env() });
const json = (...args: string[]) => rewardsJson(['achievements', ...args, ...target()], { env: env() });

test('list prints what the brand has set, by metric', async () => {
  const { stdout, code } = await run('list', service.brand.domain);
  expect(code).toBe(0);
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/\s{2,}/)),
  ).toEqual([
    ['regular', 'claims 5', 'A regular'],
    ['collector', 'rwt_earned 1000', 'Collector'],
    ['faithful', 'streak_days 7', 'A week in a row'],
    ['chatterbox', 'manual 100', 'Chatterbox'],
  ]);
  const {
    envelope: { data },
  } = await json('list', service.brand.domain);
  expect(data.achievements[0]).toEqual({
    type: 'regular',
    metric: 'claims',
    threshold: 5,
    name: 'A regular',
  });
});

test('show and progress: what rewards count, what is reported, and the unlock', async () => {
  const user = someone();
  await service.event({ userEmail: user });
  await until(
    'the reward is counted',
    async () => (await json('show', user)).envelope.data.body.achievements[0].currentProgress === 1,
  );
  const first = await run('progress', user, 'chatterbox');
  expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/^chatterbox\s+1\s+.*locked/)]);
  const unlocked = await json('progress', user, 'chatterbox', '--to', '100');
  expect(unlocked.envelope.data.body).toMatchObject({
    currentProgress: 100,
    isUnlocked: true,
    unlocked: [{ achievementType: 'chatterbox' }],
  });
  const shown = await run('show', user);
  expect(shown.stdout).toMatch(/locked\s+regular\s+1 of 5 claims\s+A regular/);
  expect(shown.stdout).toMatch(/unlocked\s+chatterbox\s+100 of 100 manual\s+Chatterbox/);
});

test('an account on a platform is named by it', async () => {
  const id = '123456789012345678';
  await run('progress', `discord:${id}`, 'chatterbox', '--add', '7');
  const path = `/achievements/${service.brand.brandId}/${id}?platform=discord`;
  const { body } = await service.request(path);
  expect(body.achievements.at(-1)).toMatchObject({ achievementType: 'chatterbox', currentProgress: 7 });
});

test('a refusal has exit code 1 and says what to do; a wrong number is a usage error', async () => {
  const counted = await run('progress', someone(), 'regular');
  expect([counted.code, counted.stderr]).toEqual([1, expect.stringContaining('counted by the service')]);
  expect((await run('progress', someone(), 'nothing', '--expect', '400:achievement_not_found')).code).toBe(0);
  expect((await run('progress', someone(), 'chatterbox', '--add', 'x')).code).toBe(2);
  expect((await run('progress', someone(), 'chatterbox', '--add', '1', '--to', '2')).code).toBe(2);
});

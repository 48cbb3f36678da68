/** Check-ins when two processes share one database and a user comes from everywhere at once: a day is counted and paid once. */
import { expect, test } from 'vitest';
import { onTwoProcesses } from '../../kits/service/two-processes.ts';

const AT_ONCE = 200;
const USER = 'everywhere@people.example';

onTwoProcesses((get) => {
  test(`${AT_ONCE} check-ins of one user at once: one counts, and 10 RWT are on chain`, async () => {
    const { one, nth, agree } = get();
    // A zone in which it is noon: no two of them come on different days.
    const hours = 12 - new Date().getUTCHours();
    const timeZone = `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`;
    expect((await one.change(`/brands/${one.brand.brandId}`, { timeZone })).status).toBe(200);
    const body = { brandId: one.brand.brandId, userIdentifier: USER, platform: 'web', streakType: 'daily' };
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => nth(n).post('/streak/record-activity', body)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const counted = answers.filter((answer) => answer.body.isNewActivity);
    expect(counted.map((answer) => answer.body.reward.final)).toEqual([10]);
    for (const answer of answers) expect(answer.body.currentStreak).toBe(1);
    const stats = await one.request(`/user-stats/${one.brand.brandId}/${encodeURIComponent(USER)}`);
    expect(stats.body).toMatchObject({ balance: 10, lifetime: { earned: 10, claims: 1 } });
    await agree();
  }, 120_000);
});

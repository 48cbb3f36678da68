/** The site's REST API, each row of its contract, by session with nonce and by application password. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestService } from '../kits/service/service.ts';
import { basic, startSiteAndService, startTestSite, type TestSite } from '../kits/site/site.ts';

const api = '/wp-json/rewards/v1';
let service: TestService;
let site: TestSite;

beforeAll(async () => {
  ({ service, site } = await startSiteAndService());
});
// Failed logins of one test hold up no other.
beforeEach(() => site.clock.advance(25 * 3_600_000));
afterAll(async () => {
  await site?.stop();
  await service?.stop();
});

/** Each way to be logged in, as headers. */
const ways = {
  'a session with a nonce': async () => {
    const person = await site.person();
    return { person, headers: (await site.browser(person)).headers as Record<string, string> };
  },
  'an application password': async () => {
    const person = await site.person();
    return { person, headers: person.basic as Record<string, string> };
  },
};

/** RWT for somebody who wants to redeem. */
const earn = async (email: string) => {
  await service.event({ eventType: 'referral', userEmail: email });
  await service.event({ eventType: 'first_purchase', userEmail: email });
};
const perkId = async (name: string) => {
  const { body } = await service.request(`/perks/${service.brand.brandId}`);
  return body.perks.find((perk: { name: string }) => perk.name === name).id as string;
};
const refusal = (status: number, code: string, message: unknown) => ({
  status,
  body: { code, message, data: { status } },
});
const seen = ({ status, body }: { status: number; body: unknown }) => ({ status, body });

describe.each(Object.entries(ways))('with %s', (_, enter) => {
  it('a check-in returns the streak and the reward, and on the same day alreadyClaimed and 0', async () => {
    const { headers } = await enter();
    const first = await site.request(`${api}/checkin`, { method: 'POST', headers });
    expect(seen(first)).toEqual({
      status: 200,
      body: {
        success: true,
        streak: {
          currentStreak: 1,
          multiplier: 1,
          nextMilestone: { days: 7, bonus: 100 },
          unclaimedMilestones: [],
        },
        reward: 10,
        alreadyClaimed: false,
      },
    });
    const again = await site.post(`${api}/checkin`, { userIdentifier: 'somebody@else.example' }, headers);
    expect(again.body).toMatchObject({ success: true, reward: 0, alreadyClaimed: true });
  });

  it("redeeming returns the code and the perk, and the service's reason where it cannot be had", async () => {
    const { headers, person } = await enter();
    await earn(person.email);
    const id = await perkId('Ten percent off');
    const redeemed = await site.post(`${api}/redeem`, { perkId: id }, headers);
    expect(seen(redeemed)).toEqual({
      status: 200,
      body: {
        success: true,
        confirmationCode: expect.stringMatching(/^[0-9A-Z-]{8,}$/),
        perk: {
          id,
          name: 'Ten percent off',
          description: 'A voucher for the next order.',
          cost: 250,
          category: 'digital',
        },
      },
    });
    const sweater = await site.post(`${api}/redeem`, { perkId: await perkId('Hooded sweater') }, headers);
    expect(seen(sweater)).toEqual(refusal(400, 'redeem_failed', 'Insufficient balance'));
    const unknown = await site.post(
      `${api}/redeem`,
      { perkId: 'e1b0086d-0000-4909-9d31-744384225728' },
      headers,
    );
    // Not what a developer would do about it.
    expect(seen(unknown)).toEqual(refusal(400, 'redeem_failed', 'Perk not found'));
  });

  it('a missing perkId is missing_perk_id, one of another form rest_invalid_param', async () => {
    const { headers } = await enter();
    const missing = refusal(400, 'missing_perk_id', 'perkId is required');
    for (const body of [{}, { perkId: '' }, { perkId: null }])
      expect(seen(await site.post(`${api}/redeem`, body, headers))).toEqual(missing);
    expect(seen(await site.request(`${api}/redeem`, { method: 'POST', headers }))).toEqual(missing);
    for (const perkId of [7, '../perks', ['a']])
      expect((await site.post(`${api}/redeem`, { perkId }, headers)).body.code).toBe('rest_invalid_param');
  });

  it('missing milestoneDays are missing_milestone, others than days rest_invalid_param', async () => {
    const { headers } = await enter();
    const missing = refusal(400, 'missing_milestone', 'milestoneDays is required');
    for (const body of [{}, { milestoneDays: '' }, { milestoneDays: null }])
      expect(seen(await site.post(`${api}/claim-milestone`, body, headers))).toEqual(missing);
    for (const milestoneDays of [0, -7, 7.5, 'seven', true])
      expect((await site.post(`${api}/claim-milestone`, { milestoneDays }, headers)).body.code).toBe(
        'rest_invalid_param',
      );
  });

  it('a milestone that is not reached or unknown is claim_failed', async () => {
    const { headers } = await enter();
    for (const [milestoneDays, message] of [
      [7, 'Milestone not available'],
      [8, 'Milestone not available'],
    ] as const)
      expect(seen(await site.post(`${api}/claim-milestone`, { milestoneDays }, headers))).toEqual(
        refusal(400, 'claim_failed', message),
      );
  });

  it('a body that is not an object is rest_invalid_json, one that is too large is refused', async () => {
    const { headers } = await enter();
    for (const body of ['{', '[]', '"text"'])
      expect((await site.post(`${api}/redeem`, body, headers)).body.code).toBe('rest_invalid_json');
    const large = await site.post(`${api}/redeem`, { perkId: 'x'.repeat(70_000) }, headers);
    expect(seen(large)).toMatchObject({ status: 413, body: { code: 'rest_body_too_large' } });
  });
});

const changes: [string, unknown][] = [
  ['checkin', {}],
  ['redeem', {}],
  ['claim-milestone', {}],
];

describe.each(changes)('%s of somebody who is not logged in', (endpoint, body) => {
  const post = (headers: Record<string, string>) => site.post(`${api}/${endpoint}`, body, headers);
  const no = (message: unknown) => refusal(401, 'not_logged_in', message);

  it('is refused without any login, and with a made-up session', async () => {
    expect(seen(await post({}))).toEqual(no('User must be logged in'));
    const forged = { cookie: `rewards_site_session=${'A'.repeat(43)}`, 'x-site-nonce': 'a'.repeat(32) };
    expect(seen(await post(forged))).toEqual(no('User must be logged in'));
  });

  it('is refused with a session alone, and with a wrong nonce', async () => {
    const { cookie } = await site.browser(await site.person());
    expect(seen(await post({ cookie }))).toEqual(no(expect.stringContaining('X-Site-Nonce is missing')));
    expect(seen(await post({ cookie, 'x-site-nonce': 'a'.repeat(32) }))).toEqual(
      no(expect.stringContaining('the nonce is wrong')),
    );
  });

  it("is refused with another user's nonce, and with a nonce of another action", async () => {
    const [mine, theirs] = [await site.browser(await site.person()), await site.browser(await site.person())];
    for (const nonce of [theirs.nonce('rest'), mine.nonce('ajax'), mine.nonce('form')])
      expect((await post({ cookie: mine.cookie, 'x-site-nonce': nonce })).body.code).toBe('not_logged_in');
  });

  it('is refused with a wrong application password, and with that of another user', async () => {
    const [mine, theirs] = [await site.person(), await site.person()];
    const secret = Buffer.from(theirs.basic.authorization.slice(6), 'base64').toString().split(':')[1] ?? '';
    for (const headers of [basic(mine.login, 'wrong'), basic(mine.login, secret), basic('nobody', secret)])
      expect(seen(await post(headers))).toEqual(no(expect.stringContaining('application password is wrong')));
  });
});

it('a nonce is good for its tick of 12 hours and the next one', async () => {
  const person = await site.person();
  const { cookie, nonce } = await site.browser(person);
  const old = nonce('rest');
  const post = () => site.post(`${api}/redeem`, {}, { cookie, 'x-site-nonce': old });
  site.clock.advance(12 * 3_600_000);
  expect((await post()).body.code).toBe('missing_perk_id');
  site.clock.advance(12 * 3_600_000);
  expect(seen(await post())).toEqual(refusal(401, 'not_logged_in', expect.stringContaining('too old')));
});

it('a session ends after 14 days and at logout', async () => {
  const { headers } = await site.browser(await site.person());
  site.clock.advance(14 * 86_400_000);
  expect((await site.post(`${api}/redeem`, {}, headers)).body.message).toBe('User must be logged in');
});

it('the leaderboard is public, and has the fields of both variants', async () => {
  const { email } = await site.person();
  await earn(email);
  const board = await site.request(`${api}/leaderboard?metric=claims&period=all&limit=100`);
  expect(board.status).toBe(200);
  expect(board.body).toMatchObject({ success: true, metric: 'claims', period: 'all' });
  expect(board.body.total).toBe(board.body.leaderboard.length);
  expect(board.body.leaderboard).toContainEqual({
    rank: expect.any(Number),
    userIdentifier: email,
    username: email.split('@')[0],
    displayName: email.split('@')[0],
    platform: expect.any(String),
    value: 2,
    formattedValue: '2 claims',
  });
  const { body } = await site.request(`${api}/leaderboard`);
  expect(body).toMatchObject({ metric: 'rwt_earned', period: 'week' });
});

it.each(['metric=wealth', 'period=day', 'limit=0', 'limit=101', 'limit=ten'])(
  'a leaderboard with %s is rest_invalid_param, which names the parameter',
  async (query) => {
    const [name = ''] = query.split('=');
    const { status, body } = await site.request(`${api}/leaderboard?${query}`);
    expect({ status, code: body.code, params: Object.keys(body.data.params) }).toEqual({
      status: 400,
      code: 'rest_invalid_param',
      params: [name],
    });
  },
);

it('other routes and methods are rest_no_route', async () => {
  for (const [method, path] of [
    ['GET', '/checkin'],
    ['DELETE', '/leaderboard'],
    ['POST', '/nothing'],
    ['GET', ''],
  ] as const)
    expect(seen(await site.request(`${api}${path}`, { method }))).toMatchObject({
      status: 404,
      body: { code: 'rest_no_route', data: { status: 404 } },
    });
});

describe('a plugin that is not configured', () => {
  let bare: TestSite;
  beforeAll(async () => {
    bare = await startTestSite({ brandId: service.brand.brandId });
  });
  afterAll(() => bare?.stop());

  it('answers 500 not_configured to everybody who may ask', async () => {
    const person = await bare.person();
    const { headers } = await bare.browser(person);
    const no = refusal(500, 'not_configured', 'Plugin not configured');
    for (const login of [headers, person.basic] as Record<string, string>[]) {
      expect(seen(await bare.post(`${api}/checkin`, {}, login))).toEqual(no);
      expect(seen(await bare.post(`${api}/redeem`, { perkId: 'e1' }, login))).toEqual(no);
      expect(seen(await bare.post(`${api}/claim-milestone`, { milestoneDays: 7 }, login))).toEqual(no);
    }
    expect(seen(await bare.request(`${api}/leaderboard`))).toEqual(no);
    expect((await bare.post(`${api}/checkin`, {})).body.code).toBe('not_logged_in');
  });
});

it('an address may ask the service 300 times a minute, unless the site counts no addresses', async () => {
  const open = await startTestSite({}, { limitAddresses: false });
  const limited = await startTestSite();
  const ask = async (one: TestSite) =>
    (await Promise.all(Array.from({ length: 302 }, () => one.request(`${api}/leaderboard`)))).filter(
      ({ status }) => status === 429,
    );
  limited.clock.freeze();
  const refused = await ask(limited);
  expect(refused.map(({ body }) => body.code)).toEqual(['too_many_requests', 'too_many_requests']);
  expect(await ask(open)).toEqual([]);
  limited.clock.advance(60_000);
  expect((await limited.request(`${api}/leaderboard`)).body.code).toBe('not_configured');
  await Promise.all([open.stop(), limited.stop()]);
});

describe('a milestone', () => {
  it('is claimed on the seventh day in a row, once', async () => {
    const person = await site.person();
    for (let day = 1; day <= 7; day++) {
      const { body } = await site.post(`${api}/checkin`, {}, person.basic);
      expect(body).toMatchObject({ alreadyClaimed: false, streak: { currentStreak: day } });
      if (day === 7) expect(body.streak.unclaimedMilestones).toEqual([{ days: 7, bonus: 100 }]);
      else await service.advance('24h');
    }
    const claim = () => site.post(`${api}/claim-milestone`, { milestoneDays: 7 }, person.basic);
    expect(seen(await claim())).toEqual({
      status: 200,
      body: { success: true, bonusRwt: 100, milestone: 7 },
    });
    expect(seen(await claim())).toEqual(refusal(400, 'claim_failed', 'Milestone already claimed'));
  });
});

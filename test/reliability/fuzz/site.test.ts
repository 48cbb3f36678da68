/** Whatever is sent to a site, it answers: never with trouble of its own, and never with a script in a page. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NonceAction } from '../../../src/site/accounts/users.ts';
import { defaultEvents } from '../../../src/site/plugin/plugin-settings.ts';
import { startReceiver } from '../../kits/network/receivers.ts';
import { seededChance } from '../../kits/run/seeded-chance.ts';
import { startTestSite, type TestSite } from '../../kits/site/site.ts';
import { type FuzzedVisit, type Known, siteRequests } from './site-requests.ts';

const RUNS = Number(process.env.REWARDS_SITE_FUZZ_RUNS ?? 50_000);
const SEED = Number(process.env.REWARDS_SITE_FUZZ_SEED ?? 20_261_122);
const AT_ONCE = 32;
/** Some of them log out, or spoil the settings: what comes after needs others. */
const BEFORE_AFRESH = 2_000;

const streak = {
  currentStreak: 3,
  multiplier: 1.1,
  nextMilestone: { days: 7, bonus: 100 },
  unclaimedMilestones: [],
};
const perk = { id: 'e1', name: 'Mug <script>', description: '"><b>', cost: 5, category: 'digital' };
const entry = {
  rank: 1,
  userIdentifier: 'a@b.example',
  username: '<b>',
  displayName: '<script>',
  platform: 'web',
};
/** All that any endpoint answers, in one: the site takes from it what it asked for. */
const yes = JSON.stringify({
  success: true,
  ...streak,
  checkedInToday: false,
  isNewActivity: true,
  reward: { final: 11 },
  bonusRwt: 100,
  milestone: 7,
  confirmationCode: '7KQ2',
  perk,
  perks: [{ ...perk, available: 9, image: null }],
  leaderboard: [{ ...entry, value: 5, formattedValue: '5 RWT' }],
  total: 1,
  balance: 7,
  walletAddress: null,
  history: [{ eventType: '<i>', amount: 5, timestamp: 1 }],
  achievements: [{ achievementType: 'x', name: '<u>', currentProgress: 1, threshold: 5, isUnlocked: false }],
});
const no = JSON.stringify({ success: false, error: 'No', message: 'No <script>alert(1)</script>' });

const { below, pick } = seededChance(SEED);
const settingsOf = (port: number) => ({
  brandId: `0x${'ab'.repeat(20)}`,
  domain: 'demo.example',
  debugLogging: true,
  events: [...defaultEvents],
  eventHandlerUrl: `http://127.0.0.1:${port}`,
  servicesUrl: `http://127.0.0.1:${port}`,
});

let receiver: Awaited<ReturnType<typeof startReceiver>>;
let site: TestSite;
const rejections: unknown[] = [];
const remember = (reason: unknown) => rejections.push(reason);

beforeAll(async () => {
  process.on('unhandledRejection', remember);
  receiver = await startReceiver((_, response) => {
    // It keeps what came; nobody looks at it here.
    receiver.received.length = 0;
    if (below(100) < 75) return response.writeHead(200).end(yes);
    if (below(100) < 50) return response.writeHead(pick([400, 403, 409, 429])).end(no);
    return response.writeHead(pick([200, 302, 500, 503])).end(pick(['', '{}', '<html>', '[]', 'null', '{']));
  });
  site = await startTestSite();
});
afterAll(async () => {
  process.off('unhandledRejection', remember);
  await site?.stop();
  await receiver?.stop();
});

/** Users, sessions and nonces that nobody has ended yet, and settings that work. */
async function beginAfresh(): Promise<Known> {
  const { accounts, content, plugin } = site.site;
  expect(plugin.settings.save(settingsOf(receiver.port))).toEqual([]);
  const people = [await site.person(), await site.person()];
  const login = `root-${people[0]?.login}`;
  const admin = { login, password: 'a good password' };
  await accounts.addUser({
    ...admin,
    email: `${login}@mail.example`,
    displayName: 'Root',
    role: 'administrator',
  });
  const browsers = await Promise.all([...people, admin].map((one) => site.browser(one)));
  const guest = accounts.welcome(new Request(site.url));
  const noncesBy = (nonce: (action: NonceAction) => string) => ({
    rest: nonce('rest'),
    ajax: nonce('ajax'),
    form: nonce('form'),
    settings: nonce('settings'),
  });
  return {
    browsers: [
      ...browsers.map(({ cookie, nonce }) => ({ cookie, nonces: noncesBy(nonce) })),
      {
        cookie: guest.cookie?.split(';')[0] ?? '',
        nonces: noncesBy((action) => accounts.nonceFor(guest.caller, action)),
      },
    ],
    authorizations: people.map((one) => one.basic.authorization),
    logins: [login, ...people.map(({ login }) => login)],
    slugs: content.posts.published().map(({ slug }) => slug),
    serviceUrl: `http://127.0.0.1:${receiver.port}`,
  };
}

/** The status, and what is wrong with the answer; undefined when nothing is. */
async function visit({
  method,
  path,
  headers,
  body,
  address,
}: FuzzedVisit): Promise<[number, string | undefined]> {
  const request = new Request(`${site.url}${path}`, { method, headers, ...(body !== undefined && { body }) });
  const response = await site.site.fetch(request, { address });
  const text = await response.text();
  // A HEAD has no body that could name a reason; its GET is sent as often.
  const isHead = method === 'HEAD' && response.status >= 500;
  return [response.status, isHead ? undefined : fault(response, text)];
}

function fault(response: Response, text: string): string | undefined {
  const type = response.headers.get('content-type') ?? '';
  if (response.headers.get('access-control-allow-origin') !== null) return 'other sites may read it';
  const cookies = response.headers.getSetCookie();
  if (cookies.some((line) => !line.includes('; HttpOnly; SameSite=Lax'))) return `cookie ${cookies}`;
  if (type.startsWith('text/html') && /<script>|<img src=x|<[biu]>/.test(text)) return 'markup of a stranger';
  if (response.headers.get('location')?.match(/^(?!\/site|https?:\/\/127\.0\.0\.1)/))
    return 'leads elsewhere';
  if (response.status < 500) return undefined;
  const answer: { code?: string; data?: { code?: string } } = type.includes('json') ? JSON.parse(text) : {};
  const code = answer.code ?? answer.data?.code;
  return code === 'api_error' || code === 'not_configured' ? undefined : `status ${response.status} ${text}`;
}

test(`${RUNS} requests of every shape: no 5xx but not_configured and api_error`, async () => {
  const next = siteRequests(SEED);
  const faults: unknown[] = [];
  const statuses: Record<number, number> = {};
  for (let sent = 0; sent < RUNS && faults.length === 0; sent += BEFORE_AFRESH) {
    const known = await beginAfresh();
    let left = Math.min(BEFORE_AFRESH, RUNS - sent);
    const work = async () => {
      while (left > 0) {
        left -= 1;
        const one = next(known);
        const [status, wrong] = await visit(one).catch((error: unknown) => [0, String(error)] as const);
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (wrong !== undefined) faults.push({ wrong, ...one });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    // The windows of addresses are to be met, not to be all there is.
    site.clock.advance(61_000);
  }
  await site.site.plugin.idle();
  expect(faults).toEqual([]);
  expect(rejections).toEqual([]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  // Enough of them got through to what they asked for.
  expect(statuses[200]).toBeGreaterThan(RUNS / 10);
  expect(statuses[303]).toBeGreaterThan(RUNS / 100);
  expect(statuses[500]).toBeGreaterThan(RUNS / 500);
}, 300_000);

/** Requests to a site of every shape: what browsers and programs send with some of it wrong, and noise. */
import type { NonceAction } from '../../../src/site/accounts/users.ts';
import { seededChance } from '../../kits/run/seeded-chance.ts';

export interface FuzzedVisit {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer> | undefined;
  address: string;
}

/** What is known to be good: cookies, nonces, credentials, ids. */
export interface Known {
  browsers: { cookie: string; nonces: Record<NonceAction, string> }[];
  authorizations: string[];
  logins: string[];
  slugs: string[];
  serviceUrl: string;
}

const odd = [
  ...['', ' ', '\u0000', '\u202e', '\ud800', '__proto__', 'constructor', 'null', 'true', '-1', '1e309', '٣'],
  ...['%00', '%', '../..', '..%2f', '{{7*7}}', "' or 1=1 --", '$1', 'a'.repeat(300), '\r\nX-Injected: 1'],
  ...['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', '[rewards_dashboard]', '💥'.repeat(20)],
  ...[
    '[rewards_leaderboard metric="claims" limit="1e9"]',
    '[rewards_perks category="<b>"]',
    '//evil.example',
  ],
];
const api = '/wp-json/rewards/v1';
const gets = [
  ...['', '/', '/shop', '/dashboard', '/leaderboard', '/perks', '/profile', '/login', '/register', '/share'],
  ...['/admin/settings', '/admin/posts', `${api}/leaderboard`, `${api}/leaderboard`, '/assets/x.css', '/%'],
];
const posts = [
  ...['checkin', 'redeem', 'claim-milestone'].flatMap((name) => [`${api}/${name}`, `/actions/${name}`]),
  ...['/wp-admin/admin-ajax.php', '/wp-admin/admin-ajax.php', '/login', '/logout', '/register', '/share'],
  ...['/shop/orders', '/profile/application-passwords', '/profile/application-passwords/remove'],
  ...['/admin/settings', '/admin/settings/test', '/admin/posts'],
];
const neither = ['/nothing', '//', `${api}/`, `${api}/checkin/`, `${api}/%ff`, `${api}/../users`, '/%2e%2e/'];
const fields = [
  ...['perkId', 'milestoneDays', 'userIdentifier', 'login', 'password', 'action', 'nonce', '_nonce', 'back'],
  ...[
    'event_name',
    'email',
    'metadata',
    'body',
    'next',
    'url',
    'title',
    'id',
    'publish',
    'product',
    'quantity',
  ],
  ...['displayName', 'name', 'brandId', 'domain', 'apiKey', 'event-0', 'hook-0', 'enabled-0', 'testEmail'],
  ...['testEvent', 'debugLogging', 'forgetKey', '__proto__', 'role'],
];
const likely = [
  ...[
    '1',
    '7',
    '30',
    'rewards_custom_event',
    'social_share',
    'daily_visit',
    'ada@mail.example',
    '{"url":"/a"}',
  ],
  ...[
    'e1b0086d-ebab-4909-9d31-744384225728',
    'a good password',
    'share',
    'login',
    'on',
    '/dashboard',
    'demo.example',
  ],
  ...[`0x${'ab'.repeat(20)}`, '{"__proto__":{"polluted":1},"a":[[[[]]]]}', 'A comment about this post'],
];
const query = ['metric', 'period', 'limit', 'tab', 'category', 'url', 'next', 'problem', 'seconds', 'id'];
const values = [
  'claims',
  'streak',
  'rwt_earned',
  'week',
  'all',
  '10',
  'perks',
  'achievements',
  'wait',
  'digital',
];

/** The same seed gives the same requests. */
export function siteRequests(seed: number): (known: Known) => FuzzedVisit {
  const { below: count, pick } = seededChance(seed);
  let known: Known;
  let browser: Known['browsers'][number];
  const other = () => pick(known.browsers);
  const often = (percent: number) => count(100) < percent;
  const word = () => (often(60) ? pick(likely) : pick(odd));
  const noise = () => Uint8Array.from({ length: count(200) }, () => count(256));
  const path = (routes: string[], below: string) => {
    const place = often(80) ? pick(routes) : `/posts/${often(80) ? pick(known.slugs) : pick(odd)}${below}`;
    const pairs = Array.from({ length: count(3) }, () => [pick(query), often(60) ? pick(values) : pick(odd)]);
    const search = pairs.map(([name, value]) => `${name}=${encoded(value ?? '')}`).join('&');
    return `${place}${search === '' ? '' : `?${search}`}`;
  };
  const nonce = (action: NonceAction) =>
    often(90) ? pick([browser, browser, browser, other()]).nonces[action] : word();
  const valueFor = (field: string, at: string): string => {
    if (field === 'nonce') return nonce('ajax');
    if (field === '_nonce')
      return nonce(at.startsWith('/admin/settings') ? 'settings' : /share/.test(at) ? 'ajax' : 'form');
    if (field === 'login') return often(50) ? pick(known.logins) : word();
    return word();
  };
  const sent = (at: string): [string, string][] => {
    const some = Array.from({ length: count(5) }, () => pick(fields));
    const isAjax = at.startsWith('/wp-admin');
    const usual = isAjax
      ? ['nonce', 'event_name', 'email']
      : ['_nonce', pick(['perkId', 'milestoneDays', 'body'])];
    const all = [...usual, ...some].map((name): [string, string] => [name, valueFor(name, at)]);
    if (isAjax) all.push(['action', often(90) ? 'rewards_custom_event' : word()]);
    // Settings that name strangers' machines would make the fuzzer ask them.
    const broken = ['', 'javascript:alert(1)', 'http://127.0.0.1:1'];
    for (const name of ['eventHandlerUrl', 'servicesUrl'])
      if (at.startsWith('/admin')) all.push([name, often(80) ? known.serviceUrl : pick(broken)]);
    return all;
  };
  const body = (at: string): [string, FuzzedVisit['body']] => {
    const kind = count(20);
    if (kind < 11) return ['application/x-www-form-urlencoded', formOf(sent(at))];
    if (kind < 18) return ['application/json', JSON.stringify(Object.fromEntries(sent(at)))];
    if (kind === 18)
      return [pick(['application/json', 'multipart/form-data; boundary=x', 'text/plain', '']), noise()];
    return [
      'application/json',
      pick(['{', '[]', 'null', '['.repeat(5_000), `"${'x'.repeat(70_000)}"`, '{"a":1e400}']),
    ];
  };
  const headers = (): Record<string, string> => {
    const all: Record<string, string> = {};
    if (often(85)) all.cookie = often(95) ? browser.cookie : headerText(pick(odd));
    if (often(70)) all['x-site-nonce'] = headerText(nonce('rest'));
    if (often(15))
      all.authorization = often(70) ? pick(known.authorizations) : `Basic ${headerText(pick(odd))}`;
    if (often(5)) all.origin = headerText(pick(['null', 'https://evil.example', ...odd]));
    if (often(5)) all['sec-fetch-site'] = pick(['cross-site', 'same-site', 'same-origin', 'none', 'x']);
    if (often(3)) all['content-length'] = pick(['-1', 'NaN', '99999999', '0']);
    if (often(5))
      all[pick(['accept', 'range', 'if-none-match', 'x-forwarded-for', 'host'])] = headerText(pick(odd));
    return all;
  };
  return (now) => {
    known = now;
    browser = other();
    const method = often(90)
      ? pick(['GET', 'POST', 'POST'])
      : pick(['HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']);
    const at = often(93)
      ? path(method === 'POST' ? posts : gets, method === 'POST' ? '/comments' : '')
      : pick(neither);
    const [type, bytes] = method === 'GET' || method === 'HEAD' ? ['', undefined] : body(at);
    const content: Record<string, string> = type === '' ? {} : { 'content-type': type };
    return {
      method,
      path: at,
      body: bytes,
      headers: { ...headers(), ...content },
      address: `198.51.100.${count(250)}`,
    };
  };
}

/** Lone surrogates cannot be written into a URL. */
const encoded = (text: string) => encodeURIComponent(Buffer.from(text).toString());
const formOf = (pairs: [string, string][]) =>
  pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
/** What a header may hold. */
const headerText = (text: string) =>
  Buffer.from(text)
    .toString('latin1')
    .replace(/[^\x20-\x7e\x80-\xff]/g, '')
    .trim();

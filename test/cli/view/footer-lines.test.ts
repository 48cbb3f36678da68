/** The footer of the live view at every size: at most a third of the rows, no wider than the terminal, and no text acts. */
import { describe, expect, test } from 'vitest';
import { explanationText } from '../../../src/cli/talk/requests/explanation.ts';
import { requestLine } from '../../../src/cli/talk/requests/view.ts';
import { plainStyle, styleFor } from '../../../src/cli/terminal/style.ts';
import { type FooterState, footerLines } from '../../../src/cli/view/footer-lines.ts';
import { keys } from '../../../src/cli/view/keys.ts';
import type { Overview } from '../../../src/contract/control/overview.ts';
import type { RequestDetail, RequestSummary } from '../../../src/contract/control/requests.ts';

const nothing = { count: 0, oldestMs: null };
const demo = { brandId: '0xb', name: 'Demo', deposited: 1_000, promised: 100, available: 900, spending: [] };
const overview: Overview = {
  clock: { now: '2030-01-02T03:04:05.000Z', nowMs: 1_893_553_445_000, frozen: false, offsetMs: 0 },
  waiting: {
    payouts: { count: 3, oldestMs: 12_000 },
    mints: nothing,
    relays: nothing,
    perks: nothing,
    webhooks: { count: 1, oldestMs: null },
  },
  lanes: [
    { address: '0x01', purpose: 'relay', inFlight: 4, notFinal: 4, holder: 'a', leaseMs: 1 },
    { address: '0x02', purpose: 'payout', inFlight: 2, notFinal: 9, holder: 'a', leaseMs: 1 },
    { address: '0x03', purpose: 'relay', inFlight: 1, notFinal: 1, holder: null, leaseMs: null },
    { address: '0x04', purpose: 'setup', inFlight: 0, notFinal: 0, holder: null, leaseMs: null },
  ],
  lanesMore: 0,
  brands: [demo],
  brandsMore: 0,
  totals: { rewards: 1, rwtRewarded: 100, rwtDeposited: 1_000 },
  alarms: [],
  log: { requests: 120, refused: 3, failed: 1, perSecond: 12.34, decisions: {} },
};

const request = (number: number, more: Partial<RequestSummary> = {}): RequestSummary => ({
  id: `req_${String(number).padStart(20, '0')}`,
  at: `2030-01-02T03:00:${String(number % 60).padStart(2, '0')}.000Z`,
  host: 'events',
  method: 'POST',
  path: '/rewards-api/manual-event',
  search: '',
  status: 200,
  durationMs: 41,
  decision: 'rewarded',
  user: 'alice@demo.example',
  eventType: 'purchase',
  call: null,
  brandId: '0xb',
  passesAt: null,
  rewardAmount: 100,
  transactionHash: null,
  error: null,
  events: 1,
  rewarded: 1,
  ...more,
});

const refused = request(7, {
  status: 429,
  decision: 'cooldown',
  rewardAmount: null,
  rewarded: 0,
  passesAt: '2030-01-02T04:00:07.000Z',
});

const state = (more: Partial<FooterState> = {}): FooterState => ({
  overview,
  trouble: undefined,
  requests: [refused, request(6), request(5), request(4), request(3)],
  chosen: undefined,
  filter: undefined,
  prompt: undefined,
  keys,
  ...more,
});

const lines = (size: { columns: number; rows: number }, more: Partial<FooterState> = {}) =>
  footerLines(state(more), { ...size, style: plainStyle });

const HOSTILE = '\u001b[2J\u001b]0;title\u0007\u202enimda\u200b\r\n\u009b31mx';

test.each([
  { columns: 40, rows: 24 },
  { columns: 80, rows: 24 },
  { columns: 200, rows: 24 },
  { columns: 40, rows: 10 },
  { columns: 80, rows: 10 },
  { columns: 200, rows: 60 },
  { columns: 1, rows: 24 },
  { columns: 9, rows: 5 },
  { columns: 80, rows: 2 },
])('$columns columns and $rows rows: no more than a third, and none too wide', (size) => {
  const long = 'x'.repeat(5_000);
  const everything = state({
    requests: [
      request(9, { user: long, eventType: long }),
      request(8, { error: long, decision: null }),
      refused,
    ],
    overview: {
      ...overview,
      brands: [{ ...demo, name: long }, ...Array.from({ length: 9 }, () => demo)],
      alarms: Array.from({ length: 9 }, () => ({
        code: long,
        about: long,
        since: '',
        facts: {},
        remedy: long,
      })),
    },
    trouble: long,
    filter: long,
  });
  for (const shown of [state(), everything, { ...everything, prompt: long }]) {
    const drawn = footerLines(shown, { ...size, style: plainStyle });
    expect(drawn.length).toBeLessThanOrEqual(Math.floor(size.rows / 3));
    for (const line of drawn) expect(line.length).toBeLessThan(Math.max(size.columns, 2));
  }
});

test('80 columns: clock, rate, what waits, lanes, balances, the last answers with their reasons, keys', () => {
  expect(lines({ columns: 80, rows: 24 })).toEqual([
    '──  2030-01-02 03:04:05  12.3/s  120 requests, 3 refused, 1 failed ────────────',
    'waiting  3 payouts, the oldest for 12s; 1 webhooks',
    'lanes    payout 2  relay 5 (nobody sends)  setup 0  in flight',
    'brands   Demo 900 of 1000 RWT',
    '  03:00:07  429  purchase  cooldown: 1h left  alice@demo.example',
    '  03:00:06  200  purchase  +100 RWT           alice@demo.example',
    '  03:00:05  200  purchase  +100 RWT           alice@demo.example',
    '? keys  q quit  enter why  b console  e event again  p pay  w webhook again',
  ]);
});

test('40 columns: the same facts without what says least', () => {
  expect(lines({ columns: 40, rows: 24 })).toEqual([
    '──  01-02 03:04:05  12.3/s  120 reques…',
    'waiting  3 payouts, the oldest for 12s…',
    'lanes    payout 2  relay 5 (nobody sen…',
    'brands   Demo 900 of 1000 RWT',
    '  03:00:07  429  purchase  cooldown: 1…',
    '  03:00:06  200  purchase  +100 RWT',
    '  03:00:05  200  purchase  +100 RWT',
    '? keys  q quit  enter why  b console',
  ]);
});

test('200 columns: path, duration and id as well, and every key', () => {
  const drawn = lines({ columns: 200, rows: 24 });
  expect(drawn[1]).toBe(
    'waiting  3 payouts, the oldest for 12s; 1 webhooks    lanes  payout 2  relay 5 (nobody sends)  setup 0  in flight',
  );
  expect(drawn[3]).toBe(
    '  03:00:07  429  purchase  cooldown: 1h left  alice@demo.example    41ms  req_00000000  POST /rewards-api/manual-event',
  );
  for (const { key, word } of keys) expect(drawn.at(-1)).toContain(`${key} ${word}`);
});

test('ten rows leave one for the last request; five only one line', () => {
  const drawn = lines({ columns: 80, rows: 10 });
  expect(drawn).toHaveLength(3);
  expect(drawn[1]).toContain('cooldown: 1h left');
  expect(lines({ columns: 80, rows: 5 })).toEqual([drawn[0]]);
  expect(lines({ columns: 80, rows: 5 }, { prompt: 'a question' })).toEqual(['a question']);
});

test.each([
  [3_600_000, false, '1h ahead'],
  [-90_000, false, '1m30s behind'],
  [0, true, 'frozen'],
])('a clock that differs by %i ms says so', (offsetMs, frozen, said) => {
  const clock = { ...overview.clock, offsetMs, frozen };
  expect(lines({ columns: 80, rows: 24 }, { overview: { ...overview, clock } })[0]).toContain(said);
});

test('alarms stand above everything else, with what to do', () => {
  const alarms = [{ code: 'gas_low', about: '0x51', since: '', facts: {}, remedy: 'send ETH' }];
  const drawn = lines({ columns: 80, rows: 10 }, { overview: { ...overview, alarms } });
  expect(drawn[1]).toBe('alarm  gas_low  0x51  send ETH');
});

test('of a ledger without a service there are neither rates nor alarms', () => {
  const drawn = lines({ columns: 80, rows: 24 }, { overview: { ...overview, log: null, alarms: null } });
  expect(drawn[0]).toMatch(/^── {2}2030-01-02 03:04:05 ─+$/);
});

describe('requests', () => {
  const many = Array.from({ length: 40 }, (_, number) => request(40 - number));

  test('the chosen one is marked, and stays in sight among many', () => {
    for (const { id } of many) {
      const marked = lines({ columns: 80, rows: 24 }, { requests: many, chosen: id }).filter((line) =>
        line.startsWith('> '),
      );
      expect(marked).toHaveLength(1);
    }
    const last = lines({ columns: 80, rows: 24 }, { requests: many, chosen: 'req_00000000000000000001' });
    expect(last.slice(4, 7).map((line) => line.slice(0, 10))).toEqual([
      '  03:00:03',
      '  03:00:02',
      '> 03:00:01',
    ]);
  });

  test('without any, and with none that the filter lets through', () => {
    expect(lines({ columns: 80, rows: 24 }, { requests: [] })).toContain('no requests yet');
    expect(lines({ columns: 80, rows: 24 }, { requests: [], filter: '5xx' })).toContain(
      'no request has "5xx"',
    );
  });

  test.each([
    [{ events: 3, rewarded: 2, status: 200 }, '2 of 3 events rewarded'],
    [{ eventType: null, decision: null, error: 'not found', status: 404 }, 'POST /manual-event  not found'],
    [
      { eventType: null, call: 'purchaseFor', decision: 'confirmed', rewardAmount: null },
      'purchaseFor  confirmed',
    ],
    [{ decision: 'max_claims', rewardAmount: null }, 'purchase  max claims'],
  ])('%j reads %s', (more, said) => {
    expect(lines({ columns: 80, rows: 24 }, { requests: [request(1, more)] }).join('\n')).toContain(said);
  });
});

test('no text of a stranger acts on the terminal', () => {
  const drawn = lines(
    { columns: 200, rows: 24 },
    {
      requests: [
        request(1, { user: HOSTILE, eventType: HOSTILE, path: HOSTILE }),
        request(2, { eventType: null, decision: null, error: HOSTILE }),
        request(3, { decision: HOSTILE }),
      ],
      filter: HOSTILE,
      trouble: HOSTILE,
      prompt: HOSTILE,
      overview: {
        ...overview,
        brands: [{ ...demo, name: HOSTILE }],
        alarms: [{ code: HOSTILE, about: HOSTILE, since: '', facts: {}, remedy: HOSTILE }],
      },
    },
  );
  for (const line of drawn) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b\u202e]/);
  expect(drawn.join('\n')).toContain('‹U+001B›[2J');
});

test('nor does one in the lines above the footer: of a request, and of its explanation', () => {
  const hostile = request(1, {
    user: HOSTILE,
    eventType: HOSTILE,
    path: HOSTILE,
    error: HOSTILE,
    decision: null,
  });
  const check = { name: 'domain', outcome: 'refused', text: HOSTILE, passesAt: null, or: HOSTILE } as const;
  const explained = {
    ...hostile,
    now: overview.clock.now,
    origin: null,
    credential: null,
    requestHeaders: {},
    responseHeaders: {},
    requestBodyKept: 'none',
    requestBody: null,
    responseBody: null,
    withBrandKey: false,
    explained: [
      {
        kind: 'event',
        eventType: HOSTILE,
        call: null,
        user: HOSTILE,
        aliasOf: null,
        eventId: null,
        reward: null,
        checks: [check],
        passesAt: null,
        never: { check: 'brand', text: HOSTILE },
      },
    ],
  } satisfies RequestDetail;
  const shown = [
    requestLine(hostile, plainStyle),
    requestLine({ ...hostile, decision: 'rewarded' }, plainStyle),
    explanationText(explained, plainStyle),
  ];
  for (const text of shown) {
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e]/u);
    expect(text).toContain('‹U+001B›[2J');
  }
});

test('colours say nothing that words do not', () => {
  const size = { columns: 80, rows: 24 };
  const coloured = styleFor({ choice: 'always', env: {}, isTTY: true });
  const painted = footerLines(state({ chosen: refused.id }), { ...size, style: coloured });
  expect(painted.join('\n')).toContain('\u001b[');
  expect(painted.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''))).toEqual(
    lines(size, { chosen: refused.id }),
  );
});

/** What production keeps of a request explains it in the words in which it would have been explained at once. */
import { expect, test } from 'vitest';
import { requestDetail } from '../../src/http/control/requests.ts';
import type { EventTrace, RequestRecord, RequestTrace } from '../../src/http/frame/request-record.ts';
import { scrub } from '../../src/lib/log.ts';
import { detailOf, rowOf } from '../../src/production/requests/kept-request.ts';
import type { EventRule } from '../../src/rules/brands/brand.ts';
import { brandId, brandWith, visitWith } from '../rules/events.ts';

const NOW = Date.UTC(2030, 0, 1, 12);
const HOUR = 3_600_000;
const limits = { bodyLimitBytes: 10_240, duplicateWindowMs: 60_000 };
const profile = {
  domains: ['shop.example', 'shop.test'],
  clientAmounts: 'credential' as const,
  streakPays: 'event' as const,
  streakCheckInEvents: ['check_in'],
  streakBase: 7,
};
const rule: EventRule = {
  brandId,
  eventType: 'visit',
  active: true,
  rewardAmount: 10,
  maxClaims: 3,
  maxTotalClaims: 50,
  cooldownMs: HOUR,
  detail: {
    eventId: 'visit',
    isCustom: false,
    detectionMethod: 'manual',
    detectionConfig: { channels: ['#chat'], urlPatterns: ['https://shop.example/thanks'] },
    dynamic: { perUsd: 2, maxReward: 90, multiplier: 'streak' },
  },
};
const metadata = { order_total: ' 24.90 ', note: 'for alice@demo.example', skip_cooldown: true };
const visit = visitWith({ channel: '#chat', metadata, sourceUrl: 'https://www.shop.example/?for=alice' });
const event: EventTrace = {
  kind: 'event',
  eventId: 'e1',
  nowMs: NOW,
  bodyBytes: 120,
  submission: visit,
  rule,
  brand: brandWith(profile),
  bypass: { cooldown: false, maxClaims: false },
  state: {
    counter: { claims: 2, lastAt: NOW - 2 * HOUR, lastRewardId: 'earlier', lastAmount: 10 },
    totalClaims: 7,
    availableFunds: 500,
    streakMultiplier: 1.5,
    spending: [{ span: 'day', limit: 100, spent: 20, endsAtMs: NOW + HOUR }],
  },
};
const duplicate = { code: 'duplicate' as const, existingEventId: 'earlier', passesAtMs: NOW + 60_000 };
const called = {
  kind: 'relay' as const,
  nowMs: NOW,
  bodyLimitBytes: 10_240,
  bodyBytes: 90,
  userAddress: 'user_00',
  grounds: { contract: `0x${'c'.repeat(40)}`, function: 'purchase(uint256)', payer: brandId, gas: 90_000 },
  window: { limit: 10, remaining: 4 },
};
const foreign = { ...visit, domain: undefined, sourceUrl: undefined, origin: 'https://evil.example/?q=1' };

test.each<[string, RequestTrace[]]>([
  ['a reward', [event]],
  ['a check-in', [{ ...event, rule: { ...rule, eventType: 'check_in' } }]],
  ['an amount that does not count', [{ ...event, submission: { ...visit, metadata: { order_total: {} } } }]],
  [
    'a duplicate',
    [
      {
        ...event,
        refusal: duplicate,
        state: {
          ...event.state,
          counter: { claims: 1, lastAt: NOW, lastRewardId: 'earlier', lastAmount: 1 },
        },
      } as EventTrace,
    ],
  ],
  [
    'a foreign domain',
    [
      {
        ...event,
        submission: foreign,
        refusal: {
          code: 'domain_not_authorized',
          host: 'evil.example',
          brandId,
          brandName: 'Shop',
          configured: ['shop.example'],
        },
      },
    ],
  ],
  ['an event by its origin', [{ ...event, submission: { ...foreign, origin: 'https://a.shop.test' } }]],
  [
    'a body that was refused',
    [{ kind: 'event', nowMs: NOW, bodyBytes: 3, refusal: { code: 'invalid_body' } }],
  ],
  ['a payout that failed', [{ ...event, refusal: { code: 'payout_failed' } }]],
  ['a channel with an e-mail', [{ ...event, submission: { ...visit, channel: 'bob@shop.example' } }]],
  ['several events', [event, { ...event, eventId: 'e2', refusal: duplicate }]],
  ['a call', [{ ...called, transactionHash: `0x${'d'.repeat(64)}` }]],
  ['a call without a token', [{ ...called, refusal: { code: 'unauthorized', text: 'The token is wrong' } }]],
  ['neither', []],
])('%s', (_, traces) => {
  const record: RequestRecord = {
    id: 'req_01',
    host: 'events',
    atMs: NOW,
    method: 'POST',
    path: '/rewards-api/manual-event',
    route: '',
    search: '',
    status: 200,
    durationMs: 3,
    origin: 'https://shop.example',
    traces,
    credential: undefined,
    headers: {},
    answerHeaders: {},
    bodyKept: 'not kept',
    requestBody: undefined,
    responseBody: undefined,
  };
  const row = rowOf(record, { limits, userHash: scrub });
  const kept = { ...row, detail: JSON.parse(JSON.stringify(row.detail)) };
  const atOnce = requestDetail(record, { limits, nowMs: NOW });
  const texts = (_: string, value: unknown) => (typeof value === 'string' ? scrub(value) : value);
  expect(JSON.stringify(detailOf(kept, NOW))).toBe(JSON.stringify(atOnce, texts));
});

test('of what a caller sent only what explanations name is kept', () => {
  const refusal = { code: 'invalid_body', problem: 'body: "alice@demo." came' };
  const row = rowOf(
    {
      id: 'req_02',
      host: 'events',
      atMs: NOW,
      method: 'POST',
      path: '/x',
      route: '',
      search: '?q=1',
      status: 200,
      durationMs: 3,
      origin: undefined,
      credential: undefined,
      headers: {},
      answerHeaders: {},
      bodyKept: 'not kept',
      requestBody: '{"a":1}',
      responseBody: '{"b":2}',
      traces: [event, { kind: 'event', nowMs: NOW, bodyBytes: 3, refusal }],
    },
    { limits, userHash: scrub },
  );
  expect(JSON.stringify(row)).not.toMatch(/alice@demo\.(?!example)|note|thanks|for=|"a"|"b"|\?q/);
});

test('a row of an earlier version has its explanation already', () => {
  const detail = { id: 'req_03', status: 200, now: 'then', explained: [{ checks: [] }] };
  const row = { id: 'req_03', at: NOW, method: 'GET', path: '/x', status: 200, userHash: null, detail };
  expect(detailOf(row, NOW)).toEqual({ ...detail, now: '2030-01-01T12:00:00.000Z' });
});

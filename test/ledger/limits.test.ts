/** Windows of uses and keyed requests, at their bounds. */
import { expect, test } from 'vitest';
import { atMs } from '../../src/ledger/database/database.ts';
import {
  beginRequest,
  findRequest,
  forgetOldRequests,
  forgetRequest,
  freeRequest,
  keepAnswer,
  renewEffect,
  renewRequest,
  takeOverRequest,
} from '../../src/ledger/limits/idempotency.ts';
import { forgetOldWindows, readWindow, takeFromWindow } from '../../src/ledger/limits/rate-windows.ts';
import { freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
const WINDOW_MS = 60_000;

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  const window = (subject: string, nowMs: number, scope = 'test') => ({
    scope,
    subject,
    limit: 2,
    windowMs: WINDOW_MS,
    now: atMs(nowMs),
  });
  const take = (subject: string, nowMs: number, scope?: string) =>
    takeFromWindow(db(), window(subject, nowMs, scope));
  const read = (subject: string, nowMs: number, scope?: string) =>
    readWindow(db(), window(subject, nowMs, scope));

  test('a window gives its uses, tells what is left, and counts nothing beyond', async () => {
    const subject = freshKey('subject');
    const resetAtMs = NOW_MS + WINDOW_MS;
    expect(await read(subject, NOW_MS)).toEqual({ limit: 2, remaining: 2, resetAtMs, nowMs: NOW_MS });
    expect(await take(subject, NOW_MS)).toEqual({ taken: true, limit: 2, remaining: 1, resetAtMs });
    expect(await take(subject, NOW_MS + 9)).toEqual({ taken: true, limit: 2, remaining: 0, resetAtMs });
    expect(await take(subject, NOW_MS + 10)).toEqual({ taken: false, limit: 2, remaining: 0, resetAtMs });
    const later = { limit: 2, remaining: 0, resetAtMs, nowMs: resetAtMs - 1 };
    expect(await read(subject, resetAtMs - 1)).toEqual(later);
    // Other subjects and other limits have windows of their own.
    expect((await take(freshKey('subject'), NOW_MS)).remaining).toBe(1);
    expect((await take(subject, NOW_MS, 'other')).remaining).toBe(1);
    expect(await read(subject, NOW_MS, 'third')).toMatchObject({ remaining: 2 });
  });

  test.each<[string, number, boolean]>([
    ['a millisecond before its end', WINDOW_MS - 1, true],
    ['at its end', WINDOW_MS, false],
    ['a window’s length before it began', -WINDOW_MS, true],
    ['earlier: the clock was set back', -WINDOW_MS - 1, false],
  ])('%s (%i ms) a window that is used up holds: %s', async (_, afterMs, holds) => {
    const subject = freshKey('subject');
    for (let uses = 0; uses < 2; uses++) await take(subject, NOW_MS);
    const nowMs = NOW_MS + afterMs;
    const resetAtMs = (holds ? NOW_MS : nowMs) + WINDOW_MS;
    expect(await read(subject, nowMs)).toEqual({ limit: 2, remaining: holds ? 0 : 2, resetAtMs, nowMs });
    expect(await take(subject, nowMs)).toEqual({
      taken: !holds,
      limit: 2,
      remaining: holds ? 0 : 1,
      resetAtMs,
    });
  });

  test('a limit that was lowered below what is used leaves nothing, and not less', async () => {
    const subject = freshKey('subject');
    for (let uses = 0; uses < 2; uses++) await take(subject, NOW_MS);
    expect(await readWindow(db(), { ...window(subject, NOW_MS), limit: 1 })).toMatchObject({ remaining: 0 });
  });

  test('windows that began before a time are forgotten, no others', async () => {
    const [old, young] = [freshKey('subject'), freshKey('subject')];
    await take(old, NOW_MS - 1);
    await take(young, NOW_MS);
    await forgetOldWindows(db(), NOW_MS);
    expect((await read(old, NOW_MS)).remaining).toBe(2);
    expect((await read(young, NOW_MS)).remaining).toBe(1);
  });

  const named = () => ({ scope: 'events', key: freshKey('key') });
  const begin = (of: { scope: string; key: string }, nowMs = NOW_MS) =>
    beginRequest(db(), {
      ...of,
      requestDigest: 'digest',
      effectId: 'effect',
      now: atMs(nowMs),
      forMs: 1_000,
    });
  const answer = { status: 200, headers: { 'x-one': '1' }, body: '{"ok":true}' };

  test('a request is begun once, and another scope or key is another request', async () => {
    const of = named();
    const begun = await begin(of);
    expect(begun).toMatchObject({ ...of, busyUntil: NOW_MS + 1_000, createdAt: NOW_MS, status: null });
    expect(await begin(of)).toBeUndefined();
    expect(await begin({ ...of, scope: 'relay' })).toMatchObject({ scope: 'relay' });
    expect(await findRequest(db(), of)).toEqual(begun);
    expect(await findRequest(db(), named())).toBeUndefined();
  });

  test.each<[number, boolean]>([
    [999, false],
    [1_000, true],
    [0, false],
    [-1, true],
  ])(
    'a request whose claim ends in 1,000 ms, %i ms later, is free for another try: %s',
    async (afterMs, free) => {
      const of = named();
      await begin(of);
      const nowMs = NOW_MS + afterMs;
      const end = await takeOverRequest(db(), { ...of, now: atMs(nowMs), forMs: 1_000 });
      expect(end).toBe(free ? nowMs + 1_000 : undefined);
      expect((await findRequest(db(), of))?.busyUntil).toBe(free ? nowMs + 1_000 : NOW_MS + 1_000);
    },
  );

  test('only the try that holds a request renews, changes, frees or forgets it', async () => {
    const of = named();
    await begin(of);
    const mine = { ...of, busyUntil: NOW_MS + 1_000 };
    const stale = { ...of, busyUntil: NOW_MS + 999 };
    const term = { now: atMs(NOW_MS + 5), forMs: 1_000 };
    expect(await renewRequest(db(), { ...stale, ...term })).toBeUndefined();
    expect(await renewEffect(db(), { ...stale, effectId: 'other' })).toBe(false);
    await freeRequest(db(), stale);
    await forgetRequest(db(), stale);
    expect(await findRequest(db(), of)).toMatchObject({ busyUntil: NOW_MS + 1_000, effectId: 'effect' });
    expect(await renewEffect(db(), { ...mine, effectId: 'other' })).toBe(true);
    expect(await renewRequest(db(), { ...mine, ...term })).toBe(NOW_MS + 1_005);
    await freeRequest(db(), { ...of, busyUntil: NOW_MS + 1_005 });
    expect(await findRequest(db(), of)).toMatchObject({ busyUntil: 0, effectId: 'other' });
    await forgetRequest(db(), { ...of, busyUntil: 0 });
    expect(await findRequest(db(), of)).toBeUndefined();
  });

  test('a request that has its answer is not claimed any more', async () => {
    const [of, other] = [named(), named()];
    await begin(of);
    await begin(other);
    expect(await keepAnswer(db(), { ...of, ...answer })).toBe(true);
    expect(await keepAnswer(db(), { ...of, ...answer, status: 500 })).toBe(false);
    const mine = { ...of, busyUntil: NOW_MS + 1_000 };
    const term = { now: atMs(NOW_MS + 2_000), forMs: 1_000 };
    expect(await takeOverRequest(db(), { ...of, ...term })).toBeUndefined();
    expect(await renewRequest(db(), { ...mine, ...term })).toBeUndefined();
    expect(await renewEffect(db(), { ...mine, effectId: 'other' })).toBe(false);
    await freeRequest(db(), mine);
    await forgetRequest(db(), mine);
    expect(await findRequest(db(), of)).toMatchObject({ ...answer, ...mine, effectId: 'effect' });
    expect(await findRequest(db(), other)).toMatchObject({ status: null, body: null });
  });

  test('answers are kept for their time', async () => {
    const [old, young] = [named(), named()];
    await begin(old, NOW_MS - 10_001);
    await begin(young, NOW_MS - 10_000);
    await forgetOldRequests(db(), { now: atMs(NOW_MS), keptMs: 10_000 });
    expect(await findRequest(db(), old)).toBeUndefined();
    expect(await findRequest(db(), young)).toBeDefined();
  });
});

/** How posts are shared among endpoints: failing and slow ones leave room for the others. */
import { expect, test } from 'vitest';
import { shareSlots } from '../../src/webhooks/deliver.ts';

const limits = { atOnce: 20, ofEndpoint: 4 };
const healthy = (id: string) => ({ id, failingSince: null });
const failing = (id: string) => ({ id, failingSince: 1 });
const underWay = (...entries: [id: string, count: number, isFailing: boolean][]) =>
  new Map(entries.map(([id, count, isFailing]) => [id, { count, isFailing }]));

test('a healthy endpoint has four posts at once, a failing one has one', () => {
  expect(shareSlots([failing('f'), healthy('h')], { ...limits, underWay: underWay() })).toEqual([
    { id: 'h', slots: 4 },
    { id: 'f', slots: 1 },
  ]);
  const before = underWay(['h', 3, false], ['f', 1, true]);
  expect(shareSlots([failing('f'), healthy('h')], { ...limits, underWay: before })).toEqual([
    { id: 'h', slots: 1 },
  ]);
});

test('failing endpoints have half of all posts together', () => {
  const due = Array.from({ length: 30 }, (_, n) => failing(`f${n}`));
  expect(shareSlots(due, { ...limits, underWay: underWay() })).toHaveLength(10);
  const before = underWay(...due.slice(0, 9).map(({ id }): [string, number, boolean] => [id, 1, true]));
  expect(shareSlots([...due, healthy('h')], { ...limits, underWay: before })).toEqual([
    { id: 'h', slots: 4 },
    { id: 'f9', slots: 1 },
  ]);
});

test('endpoints that hang leave one post for each of the others', () => {
  const before = underWay(['a', 4, false], ['b', 4, false], ['c', 4, false]);
  const due = ['a', 'd', 'e', 'f'].map(healthy);
  expect(shareSlots(due, { ...limits, underWay: before })).toEqual(
    ['d', 'e', 'f'].map((id) => ({ id, slots: 1 })),
  );
});

test('never more than all posts together', () => {
  const due = Array.from({ length: 40 }, (_, n) => healthy(`h${n}`));
  const shares = shareSlots(due, { ...limits, underWay: underWay(['x', 4, false]) });
  expect(shares.reduce((sum, { slots }) => sum + slots, 0)).toBe(16);
});

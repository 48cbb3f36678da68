/** What time alone ends: cooldowns, windows of limits, what brands' servers said, keys, boards and streaks. */
import { listBrands, type StoredBrand } from '../../ledger/brands/brands.ts';
import type { Database, TimeRange } from '../../ledger/database/database.ts';
import {
  boardsEnding,
  brandKeysEnding,
  constraintResultsEnding,
  recentStreaks,
  spendingEnding,
} from '../../ledger/expiries.ts';
import { windowExpiries } from '../../ledger/limits/window-expiries.ts';
import { cooldownExpiries } from '../../ledger/rewards/cooldown-expiries.ts';
import { endOfStreak, streakTerms } from '../../rules/engagement/streak.ts';
import { SPAN_MS } from '../../rules/events/spend-limit.ts';
import type { ClockLimit, DueItem } from './move-clock.ts';

/** Scopes of `rate_windows`, with how long their windows last. */
export type WindowLengths = Record<string, number>;

interface LimitSettings {
  duplicateWindowMs: number;
  windows: WindowLengths;
  /** Streaks that are looked at: those with the latest activity. */
  streaksMax: number;
}

/** All that the ledger knows to end. */
export function ledgerLimits(
  { database: { db } }: { database: Database },
  settings: LimitSettings,
): ClockLimit[] {
  const lengths = [...new Set(Object.values(settings.windows))];
  const ends = [
    ...lengths.map((windowMs) => windowsEnd(db, settings.windows, windowMs)),
    ...(['hour', 'day'] as const).map((span) => spendingEnds(db, span)),
    ...[cooldownsEnd(db, settings), streaksEnd(db, settings)],
    ...[constraintsEnd(db), keysEnd(db), boardsEnd(db)],
  ];
  return ends.map((one) => one(() => listBrands(db)));
}

type Brands = () => Promise<StoredBrand[]>;
type NameOf = (brandId: string) => string;
type Ends = (brands: Brands) => ClockLimit;

/** Limits whose rows are found by a query; `shown` says what a row is. */
const rowsEnd =
  <Row extends { atMs: number; total: number }>(
    find: (range: TimeRange) => PromiseLike<Row[]>,
    shown: (row: Row, nameOf: NameOf) => Pick<DueItem, 'kind' | 'what'>,
  ): Ends =>
  (brands) => ({
    async ending(range) {
      const rows = await find(range);
      const nameOf = rows.length > 0 ? namesOf(await brands()) : String;
      return {
        total: rows[0]?.total ?? 0,
        items: rows.map((row) => ({ atMs: row.atMs, ...shown(row, nameOf) })),
      };
    },
  });

function namesOf(brands: StoredBrand[]): NameOf {
  const names = new Map<string, string>(brands.map(({ brandId, name }) => [brandId, name]));
  return (brandId) => names.get(brandId) ?? brandId;
}

const cooldownsEnd = (db: Database['db'], { duplicateWindowMs }: LimitSettings) =>
  rowsEnd(
    (range) => cooldownExpiries(db, { ...range, duplicateWindowMs }),
    ({ brandId, eventType, userKey }, nameOf) => ({
      kind: 'cooldown',
      what: `${userKey} may claim ${eventType} of ${nameOf(brandId)} again`,
    }),
  );

const windowsEnd = (db: Database['db'], windows: WindowLengths, windowMs: number) => {
  const scopes = Object.keys(windows).filter((scope) => windows[scope] === windowMs);
  return rowsEnd(
    (range) => windowExpiries(db, { ...range, scopes, windowMs }),
    ({ scope, subject, used }) => ({
      kind: 'window-reset',
      what: `${scope} ${subject}: ${used} used, all free again`,
    }),
  );
};

const spendingEnds = (db: Database['db'], span: 'hour' | 'day') =>
  rowsEnd(
    (range) => spendingEnding(db, { ...range, span, spanMs: SPAN_MS[span] }),
    ({ brandId, spent }, nameOf) => ({
      kind: 'spend-reset',
      what: `${nameOf(brandId)} gave ${spent} RWT in its ${span}, all of the limit is free again`,
    }),
  );

const constraintsEnd = (db: Database['db']) =>
  rowsEnd(
    (range) => constraintResultsEnding(db, range),
    ({ url, userAddress }) => ({
      kind: 'constraint-expiry',
      what: `what ${url} said of ${userAddress} no longer counts`,
    }),
  );

const keysEnd = (db: Database['db']) =>
  rowsEnd(
    (range) => brandKeysEnding(db, range),
    ({ keyId, brandId }, nameOf) => ({
      kind: 'key-expiry',
      what: `the key ${keyId} of ${nameOf(brandId)} ends`,
    }),
  );

const boardsEnd = (db: Database['db']) =>
  rowsEnd(
    (range) => boardsEnding(db, range),
    ({ brandId, period }, nameOf) => ({
      kind: 'board-end',
      what: `the ${period} of a leaderboard of ${nameOf(brandId)} is over`,
    }),
  );

/** A streak ends by the brand's calendar and grace, which the database does not know. */
const streaksEnd =
  (db: Database['db'], { streaksMax }: LimitSettings): Ends =>
  (brands) => ({
    async ending({ afterMs, untilMs, limit }) {
      const rows = await recentStreaks(db, { limit: streaksMax });
      if (rows.length === 0) return { items: [], total: 0 };
      const known = new Map<string, StoredBrand>((await brands()).map((brand) => [brand.brandId, brand]));
      const ended = rows
        .flatMap((streak): DueItem[] => {
          const brand = known.get(streak.brandId);
          if (!brand) return [];
          const { userKey, current, streakType } = streak;
          const what = `the ${streakType} streak of ${userKey} with ${brand.name} ends after ${current} days`;
          return [{ atMs: endOfStreak(streak, streakTerms(brand)), kind: 'streak-end', what }];
        })
        .filter(({ atMs }) => atMs > afterMs && atMs <= untilMs)
        .sort((a, b) => a.atMs - b.atMs);
      return { items: ended.slice(0, limit), total: ended.length };
    },
  });

/** Streaks: how many days in a row a user was active, what that multiplies, and the milestones it reaches. */
import type { Brand, BrandProfile } from '../brands/brand.ts';
import { defaultsOf } from '../brands/settings.ts';
import { brandSpec } from '../brands/spec.ts';
import { multiplied } from '../decimal.ts';
import { boardWindow } from './board-window.ts';

/** A brand's settings of its streaks. */
export type StreakTerms = Required<
  Pick<
    BrandProfile,
    | 'timeZone'
    | 'streakPays'
    | 'streakCheckInEvents'
    | 'streakTypes'
    | 'streakBase'
    | 'streakGrace'
    | 'streakMultipliers'
    | 'streakMilestones'
  >
>;

const usual = defaultsOf(brandSpec, 'earlier') as StreakTerms;

/** The brand's own settings, and the defaults of what it was made without. */
export function streakTerms({ profile }: Pick<Brand, 'profile'>): StreakTerms {
  const {
    timeZone = usual.timeZone,
    streakPays = usual.streakPays,
    streakCheckInEvents = [],
    streakTypes: types = usual.streakTypes,
    streakBase = usual.streakBase,
    streakGrace = usual.streakGrace,
    streakMultipliers = usual.streakMultipliers,
    streakMilestones = usual.streakMilestones,
  } = profile;
  // Types of streaks have no case.
  const streakTypes = types.map((type) => type.toLowerCase());
  const ofPay = { streakPays, streakCheckInEvents, streakTypes, streakBase };
  return { timeZone, ...ofPay, streakGrace, streakMultipliers, streakMilestones };
}

/** Whether streaks of this type pay at all: the brand has to have turned that on. */
export const streakPays = (
  { streakPays, streakTypes }: Pick<StreakTerms, 'streakPays' | 'streakTypes'>,
  streakType: string,
): boolean => streakPays !== 'off' && streakTypes.includes(streakType);

/** The terms of one type of streak: one that pays nothing has no milestones, and check-ins worth nothing. */
export const termsOfType = (terms: StreakTerms, streakType: string): StreakTerms =>
  streakPays(terms, streakType) ? terms : { ...terms, streakBase: 0, streakMilestones: {} };

/** The type of streak that callers mean who name none, and that multiplies rewards of events. */
export const DAILY = 'daily';

/** A user's streak of one type with one brand, as it was after the last activity. */
export interface Streak {
  /** Days of the present streak. */
  current: number;
  longest: number;
  /** Days with an activity, whether in a row or not. */
  totalDays: number;
  /** The calendar day of the last activity, see `calendarDay`. */
  lastDay: number;
  lastAt: number;
  /** Whether the last step of the streak needed the grace. */
  graceUsed: boolean;
  /**
   * On which of the latest days there was an activity: a calendar day, a colon, and hex digits whose bit n stands for n days
   * before it. The day may be an earlier one than `lastDay`, or the text empty, where an earlier program wrote the streak.
   */
  daysSeen: string;
}

/** So many days of a streak's calendar are known: 53 weeks, as many as a year can touch. */
const DAYS_SEEN = 53 * 7;

/** When, and under which terms. */
interface Moment {
  terms: StreakTerms;
  nowMs: number;
}

/** The streak with an activity now. A second one on a calendar day changes nothing: then `isNew` is false. */
export function withActivity(before: Streak | undefined, moment: Moment): { isNew: boolean; streak: Streak } {
  const { terms, nowMs } = moment;
  const today = calendarDay(nowMs, terms.timeZone);
  // A clock that was set back, or another time zone, does not give a day that was counted once more.
  if (before && today <= before.lastDay) return { isNew: false, streak: before };
  const continued = before && isAlive(before, moment) ? before.current : 0;
  const current = continued + 1;
  return {
    isNew: true,
    streak: {
      current,
      longest: Math.max(before?.longest ?? 0, current),
      totalDays: (before?.totalDays ?? 0) + 1,
      lastDay: today,
      lastAt: nowMs,
      graceUsed: before !== undefined && continued > 0 && today - before.lastDay > 1,
      daysSeen: writtenDays(today, 1n | (before ? daysBefore(today, before) : 0n)),
    },
  };
}

/** Whether an activity now would continue the streak: on the next day always, later as long as the grace lasts. */
function isAlive(streak: Streak, { terms, nowMs }: Moment): boolean {
  const missed = calendarDay(nowMs, terms.timeZone) - streak.lastDay > 1;
  return !missed || nowMs - streak.lastAt <= terms.streakGrace;
}

/** The first moment at which an activity no longer continues the streak. */
export function endOfStreak(
  { lastAt }: Pick<Streak, 'lastAt'>,
  { timeZone, streakGrace }: Pick<StreakTerms, 'timeZone' | 'streakGrace'>,
): number {
  const lastDay = boardWindow('day', { atMs: lastAt, timeZone });
  const nextDay = boardWindow('day', { atMs: lastDay.endsAt, timeZone });
  return Math.max(nextDay.endsAt, lastAt + streakGrace + 1);
}

export interface Milestone {
  days: number;
  /** Whole RWT. */
  bonus: number;
}

/** Where a user stands now. */
export interface StreakStanding {
  /** 0 where the streak has ended. */
  currentStreak: number;
  longestStreak: number;
  multiplier: number;
  totalStreakDays: number;
  checkedInToday: boolean;
  graceUsed: boolean;
  /** The first one that was never reached. */
  nextMilestone: Milestone | null;
  daysToNextMilestone: number | null;
  unclaimedMilestones: Milestone[];
  /** Milliseconds since 1970; null before the first activity. */
  lastActivityAt: number | null;
}

/** `claimed`: the days of the milestones whose bonus the user has. */
export function standing(
  streak: Streak | undefined,
  { claimed, ...moment }: Moment & { claimed: ReadonlySet<number> },
): StreakStanding {
  const { terms, nowMs } = moment;
  const currentStreak = streak && isAlive(streak, moment) ? streak.current : 0;
  const longestStreak = streak?.longest ?? 0;
  const milestones = milestonesOf(terms);
  const next = milestones.find(({ days }) => days > longestStreak) ?? null;
  return {
    currentStreak,
    longestStreak,
    multiplier: multiplierAt(currentStreak, terms),
    totalStreakDays: streak?.totalDays ?? 0,
    checkedInToday: streak !== undefined && calendarDay(nowMs, terms.timeZone) <= streak.lastDay,
    graceUsed: currentStreak > 0 && streak?.graceUsed === true,
    nextMilestone: next,
    daysToNextMilestone: next && next.days - currentStreak,
    unclaimedMilestones: milestones.filter(({ days }) => days <= longestStreak && !claimed.has(days)),
    lastActivityAt: streak?.lastAt ?? null,
  };
}

/** The milestone that an activity reached for the first time; of several, the farthest. */
export const milestoneReached = (
  terms: StreakTerms,
  { before, after }: { before: Streak | undefined; after: Streak },
): Milestone | undefined =>
  milestonesOf(terms).findLast(({ days }) => days > (before?.longest ?? 0) && days <= after.longest);

/** The brand's milestones, the nearest first. */
export const milestonesOf = ({ streakMilestones }: Pick<StreakTerms, 'streakMilestones'>): Milestone[] =>
  Object.entries(streakMilestones)
    .map(([days, bonus]) => ({ days: Number(days), bonus }))
    .sort((a, b) => a.days - b.days);

/** What a streak of this many days multiplies rewards by: the step with the most days that it has reached, else 1. */
export function multiplierAt(
  days: number,
  { streakMultipliers }: Pick<StreakTerms, 'streakMultipliers'>,
): number {
  const reached = Object.entries(streakMultipliers).filter(([from]) => Number(from) <= days);
  const [, multiplier = 1] = reached.sort(([a], [b]) => Number(b) - Number(a))[0] ?? [];
  return multiplier;
}

/** Whole RWT for a check-in, rounded down. */
export const checkInReward = ({ streakBase }: Pick<StreakTerms, 'streakBase'>, multiplier: number): number =>
  multiplied(streakBase, multiplier);

// Calendar days as a brand's customers see them: in the brand's time zone, with its daylight saving.

const DAY_MS = 86_400_000;

/** One for each time zone that brands have set; making one takes longer than using it a thousand times. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  formats.set(timeZone, made);
  return made;
}

/** The number of the calendar day in this IANA time zone, counted from 1970-01-01, which is 0; neighbours differ by 1. */
function calendarDay(ms: number, timeZone: string): number {
  const parts = formatOf(timeZone).formatToParts(ms);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  return Date.UTC(part('year'), part('month') - 1, part('day')) / DAY_MS;
}

/** The day as `2026-11-22`. */
export const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

// Which days a user was active on, as bits.

/** The bits as of `day`, the last one or a later one; days too long ago are forgotten. */
function daysBefore(day: number, { daysSeen, lastDay }: Pick<Streak, 'daysSeen' | 'lastDay'>): bigint {
  const moved = (bits: bigint, from: number) =>
    day - from < DAYS_SEEN ? BigInt.asUintN(DAYS_SEEN, bits << BigInt(day - from)) : 0n;
  const [until, bits] = daysSeen.split(':');
  return moved(1n, lastDay) | moved(BigInt(`0x${bits ?? '0'}`), Number(until));
}

const writtenDays = (day: number, bits: bigint) => `${day}:${bits.toString(16)}`;

/** The days of a year on which a user was active, the latest first, and which day it is where the brand is. */
export interface StreakCalendar {
  /** As `2026-11-22`, like the others. */
  today: string;
  activeDays: string[];
}

export function streakCalendar(streak: Streak | undefined, { terms, nowMs }: Moment): StreakCalendar {
  const today = dayText(calendarDay(nowMs, terms.timeZone));
  if (!streak) return { today, activeDays: [] };
  const bits = [...daysBefore(streak.lastDay, streak).toString(2)].reverse();
  return {
    today,
    activeDays: bits.flatMap((bit, ago) => (bit === '1' ? [dayText(streak.lastDay - ago)] : [])),
  };
}

// One streak of two that turn out to be one person's.

/**
 * The one with the later activity goes on, so that a day that either has is not counted again; the longest and the number of
 * days are the larger ones, since the two may have the same days. The calendar has the days of both.
 */
export function mergedStreak(one: Streak, other: Streak | undefined): Streak {
  const isLater =
    !other || one.lastDay > other.lastDay || (one.lastDay === other.lastDay && one.current >= other.current);
  const { current, lastDay, lastAt, graceUsed } = isLater ? one : other;
  return {
    current,
    longest: Math.max(one.longest, other?.longest ?? 0),
    totalDays: Math.max(one.totalDays, other?.totalDays ?? 0),
    lastDay,
    lastAt,
    graceUsed,
    daysSeen: writtenDays(lastDay, daysBefore(lastDay, one) | (other ? daysBefore(lastDay, other) : 0n)),
  };
}

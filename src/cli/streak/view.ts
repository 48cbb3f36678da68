/** Streaks for people. */
import type { ClaimedMilestoneBody, RecordedActivityBody, StreakStatusBody } from '../../client/bodies.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { Style } from '../terminal/style.ts';

const days = (count: number) => (count === 1 ? '1 day' : `${count} days`);
const short = (hash: string | null | undefined) => (hash ? `  ${hash}` : '');

export function statusText(body: StreakStatusBody, user: string, style: Style): string {
  const { currentStreak, longestStreak, multiplier, checkedInToday, totalStreakDays } = body;
  const { nextMilestone, daysToNextMilestone, unclaimedMilestones, lastActivityAt } = body;
  const row = (label: string, text: string) => `  ${style.dim(label.padEnd(10))}  ${text}`;
  return [
    `${style.bold(days(currentStreak))} in a row  ${user}`,
    row('multiplier', String(multiplier)),
    row('today', checkedInToday ? style.green('checked in') : style.yellow('not yet')),
    row('longest', `${days(longestStreak)}, ${totalStreakDays} in all`),
    ...(lastActivityAt === null ? [] : [row('last', lastActivityAt)]),
    ...(nextMilestone
      ? [
          row(
            'next',
            `${nextMilestone.bonus} RWT at ${nextMilestone.days} days, ${daysToNextMilestone} to go`,
          ),
        ]
      : []),
    ...unclaimedMilestones.map((one) => row('to claim', `${one.bonus} RWT for ${one.days} days`)),
  ].join('\n');
}

/** `+12 RWT  alice@demo.example  day 7 of the streak  0x…`. */
export function checkInLine(body: RecordedActivityBody, user: string, style: Style): string {
  const { isNewActivity, currentStreak, reward, unclaimedMilestones } = body;
  if (!isNewActivity) return `${style.yellow('counted before')}  ${user}  day ${currentStreak} of the streak`;
  const line = `${style.green(`+${reward.final} RWT`)}  ${user}  day ${currentStreak} of the streak${short(reward.transactionHash)}`;
  const claims = unclaimedMilestones.map(
    (one) => `  ${one.bonus} RWT to claim: rewards streak claim ${user} ${one.days}`,
  );
  return [line, ...claims].join('\n');
}

export const claimLine = (body: ClaimedMilestoneBody, user: string, style: Style): string =>
  `${style.green(`+${body.bonus} RWT`)}  ${user}  milestone of ${days(body.milestone)}${short(body.transactionHash)}`;

/** One setting a line, as `rewards brand set` takes it. */
export function settingsText(settings: Record<string, unknown>, style: Style): string {
  return Object.entries(settings)
    .map(([name, value]) => {
      const isDuration = name.endsWith('Ms') && typeof value === 'number';
      const label = isDuration ? name.slice(0, -2) : name;
      const text = isDuration ? formatDuration(value) : written(value);
      return `${style.dim(label.padEnd(20))}  ${text}`;
    })
    .join('\n');
}

function written(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, one]) => `${key}: ${one}`)
    .join(', ');
}

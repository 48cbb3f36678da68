/** Achievements for people. */
import type { Achievement } from '../../rules/brands/achievement.ts';
import { isObject } from '../service/assignments.ts';
import type { Style } from '../terminal/style.ts';

/** `regular      claims 5         A regular`. */
export const achievementLine = ({ type, metric, threshold, name }: Achievement, style: Style): string =>
  `${style.bold(type.padEnd(20))}  ${`${metric} ${threshold}`.padEnd(20)}  ${name}`;

/** `✓ regular      5 of 5 claims       A regular  2030-01-01T12:00:00.000Z`. */
export function userAchievementLines(body: unknown, style: Style): string {
  const listed = isObject(body) && Array.isArray(body.achievements) ? body.achievements : [];
  if (listed.length === 0) return style.dim('the brand has no achievements');
  return listed
    .filter(isObject)
    .map(({ achievementType, currentProgress, threshold, metric, name, isUnlocked, unlockedAt }) => {
      const mark = isUnlocked === true ? style.green('unlocked') : style.dim('locked  ');
      const progress = `${currentProgress} of ${threshold} ${metric}`.padEnd(24);
      const since = typeof unlockedAt === 'string' ? `  ${style.dim(unlockedAt)}` : '';
      return `${mark}  ${style.bold(String(achievementType).padEnd(20))}  ${progress}  ${name}${since}`;
    })
    .join('\n');
}

/** `chatterbox  41  alice@demo.example  unlocked`. */
export function progressLine(
  body: unknown,
  { user, type }: { user: string; type: string },
  style: Style,
): string {
  const { currentProgress, isUnlocked, unlocked } = isObject(body) ? body : {};
  const now = Array.isArray(unlocked) && unlocked.length > 0 ? 'unlocked now' : 'unlocked';
  const state = isUnlocked === true ? style.green(now) : style.dim('locked');
  return `${style.bold(type)}  ${currentProgress}  ${user}  ${state}`;
}

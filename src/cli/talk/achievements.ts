/** `rewards achievements list|show|progress`. */
import { personOf } from '../../client/person.ts';
import { showBrand } from '../../contract/control/brands.ts';
import { type Achievement, achievementsOf } from '../../rules/brands/achievement.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { keyHeader } from '../machine/read-input.ts';
import { isObject } from '../service/assignments.ts';
import { type ControlOptions, withControl } from '../service/control.ts';
import { refusalOf } from '../service/control-reply.ts';
import { parseExpectation } from '../service/expectation.ts';
import { demandBrand } from '../service/named-brand.ts';
import { serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

export const listAchievements: Handler<ControlOptions & { brand?: string }> = (context, options) =>
  withControl(context, options, async ({ call, emulator }) => {
    const name = options.brand ?? emulator?.run?.brands[0]?.brandId;
    if (name === undefined)
      throw usageError('The brand is missing.', '`rewards brand list` shows all; name one by id or domain.');
    const reply = await call(showBrand, { path: { name } });
    const refusal = refusalOf(reply);
    if (refusal) return { ok: false, error: refusal, data: reply.body };
    const achievements = achievementsOf(reply.body);
    return {
      ok: true,
      data: { brandId: reply.body.brandId, achievements },
      text: (style) =>
        achievements.length === 0
          ? style.dim('none yet: rewards brand set <brand> "achievements.regular=claims 10 A regular"')
          : achievements.map((one) => achievementLine(one, style)).join('\n'),
    };
  });

export const showAchievements: Handler<{ user: string; brand?: string }> = async (context, wish) => {
  const target = await resolveTarget(context);
  const { brandId } = await demandBrand(context, target, wish.brand);
  const reply = await clientFor(target, context).achievements({ brandId, ...personOf(wish.user) });
  return serviceResult(reply, { text: (style) => userAchievementLines(reply.body, style) });
};

export const reportProgress: Handler<{
  user: string;
  type: string;
  add?: string;
  to?: string;
  brand?: string;
  apiKeyFile?: string;
  expect?: string;
}> = async (context, wish) => {
  const expected = wish.expect === undefined ? undefined : parseExpectation(wish.expect);
  const change = changeOf(wish);
  const target = await resolveTarget(context);
  const { brandId } = await demandBrand(context, target, wish.brand);
  const headers = await keyHeader(context.runtime, wish.apiKeyFile);
  const report = { brandId, ...personOf(wish.user), achievementType: wish.type, ...change };
  const reply = await clientFor(target, context).reportProgress(report, { headers });
  return serviceResult(reply, { expected, text: (style) => progressLine(reply.body, wish, style) });
};

function changeOf({ add, to }: { add?: string; to?: string }): { newValue: number } | { increment: number } {
  if (add !== undefined && to !== undefined)
    throw usageError('--add and --to are given both.', 'Leave one of them out.');
  return to === undefined ? { increment: whole('--add', add ?? '1') } : { newValue: whole('--to', to) };
}

function whole(flag: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw usageError(`${flag} must be a whole number, not ${text}.`, `Write ${flag} 5, for example.`);
}

/** `regular      claims 5         A regular`. */
const achievementLine = ({ type, metric, threshold, name }: Achievement, style: Style): string =>
  `${style.bold(type.padEnd(20))}  ${`${metric} ${threshold}`.padEnd(20)}  ${name}`;

/** `✓ regular      5 of 5 claims       A regular  2030-01-01T12:00:00.000Z`. */
function userAchievementLines(body: unknown, style: Style): string {
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
function progressLine(body: unknown, { user, type }: { user: string; type: string }, style: Style): string {
  const { currentProgress, isUnlocked, unlocked } = isObject(body) ? body : {};
  const now = Array.isArray(unlocked) && unlocked.length > 0 ? 'unlocked now' : 'unlocked';
  const state = isUnlocked === true ? style.green(now) : style.dim('locked');
  return `${style.bold(type)}  ${currentProgress}  ${user}  ${state}`;
}

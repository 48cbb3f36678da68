/** `rewards achievements list|show|progress`. */
import { personOf } from '../../client/person.ts';
import { showBrand } from '../../contract/control/brands.ts';
import { achievementsOf } from '../../rules/brands/achievement.ts';
import { achievementLine, progressLine, userAchievementLines } from '../achievements/view.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { keyHeader } from '../machine/read-input.ts';
import { type ControlOptions, withControl } from '../service/control.ts';
import { refusalOf } from '../service/control-reply.ts';
import { parseExpectation } from '../service/expectation.ts';
import { demandBrand } from '../service/named-brand.ts';
import { serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';

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

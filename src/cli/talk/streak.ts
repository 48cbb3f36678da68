/** `rewards streak status|check-in|claim|settings`. */

import type { ClaimedMilestoneBody, RecordedActivityBody, StreakStatusBody } from '../../client/bodies.ts';
import { personOf } from '../../client/person.ts';
import { type BrandDetail, showBrand } from '../../contract/control/brands.ts';
import { formatDuration } from '../../lib/duration.ts';
import { brandSpec } from '../../rules/brands/spec.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { keyHeader } from '../machine/read-input.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { parseExpectation } from '../service/expectation.ts';
import { demandBrand } from '../service/named-brand.ts';
import { serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

interface StreakOptions {
  user: string;
  brand?: string;
  type: string;
}
interface WriteOptions extends StreakOptions {
  platform?: string;
  apiKeyFile?: string;
  expect?: string;
}

export const streakStatus: Handler<StreakOptions> = async (context, { user, brand, type }) => {
  const target = await resolveTarget(context);
  const { brandId } = await demandBrand(context, target, brand);
  const query = new URLSearchParams({ brandId, streakType: type, ...personOf(user) });
  const client = clientFor(target, context);
  const reply = await client.streaks.status(query);
  return serviceResult(reply, { text: (style) => statusText(reply.body, user, style) });
};

export const checkIn: Handler<WriteOptions> = async (context, options) => {
  const { expected, client, fields, headers } = await writeOf(context, options);
  const reply = await client.streaks.recordActivity(fields, { headers });
  return serviceResult(reply, { expected, text: (style) => checkInLine(reply.body, options.user, style) });
};

export const claimMilestone: Handler<WriteOptions & { days: string }> = async (context, options) => {
  const { expected, client, fields, headers } = await writeOf(context, options);
  const body = { ...fields, milestoneDays: options.days };
  const reply = await client.streaks.claimMilestone(body, { headers });
  return serviceResult(reply, { expected, text: (style) => claimLine(reply.body, options.user, style) });
};

export const streakSettings: Handler<{ brand?: string }> = async (context, { brand }) => {
  const target = await resolveTarget(context);
  const { brandId } = await demandBrand(context, target, brand);
  const reply = await clientFor(target, context).call(showBrand, { path: { name: brandId } });
  const body = Object.fromEntries(
    Object.entries(isObject(reply.body) ? reply.body : {}).filter(([name]) => isOfStreaks(name)),
  );
  const isDetail = isObject(reply.body) && typeof reply.body.brandId === 'string';
  const shown = isDetail ? { ...reply, body: body as Partial<BrandDetail> } : reply;
  return replyResult(shown, { text: settingsText });
};

const streakNames = Object.keys(brandSpec).filter((name) => name === 'timeZone' || name.startsWith('streak'));
const isOfStreaks = (name: string) => streakNames.includes(name.replace(/Ms$/, ''));

/** Everything that a write needs, checked before anything is sent. */
async function writeOf(context: CommandContext, options: WriteOptions) {
  const expected = options.expect === undefined ? undefined : parseExpectation(options.expect);
  const headers = await keyHeader(context.runtime, options.apiKeyFile);
  const target = await resolveTarget(context);
  const { brandId, domain } = await demandBrand(context, target, options.brand);
  const { platform, type: streakType } = options;
  const fields = {
    brandId,
    streakType,
    // What pays says where it comes from, as an event does.
    ...(domain && { domain }),
    ...(platform && { platform }),
    ...personOf(options.user),
  };
  return { expected, client: clientFor(target, context), fields, headers };
}

const days = (count: number) => (count === 1 ? '1 day' : `${count} days`);
const short = (hash: string | null | undefined) => (hash ? `  ${hash}` : '');

function statusText(body: StreakStatusBody, user: string, style: Style): string {
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
function checkInLine(body: RecordedActivityBody, user: string, style: Style): string {
  const { isNewActivity, currentStreak, reward, unclaimedMilestones } = body;
  if (!isNewActivity) return `${style.yellow('counted before')}  ${user}  day ${currentStreak} of the streak`;
  const line = `${style.green(`+${reward.final} RWT`)}  ${user}  day ${currentStreak} of the streak${short(reward.transactionHash)}`;
  const claims = unclaimedMilestones.map(
    (one) => `  ${one.bonus} RWT to claim: rewards streak claim ${user} ${one.days}`,
  );
  return [line, ...claims].join('\n');
}

const claimLine = (body: ClaimedMilestoneBody, user: string, style: Style): string =>
  `${style.green(`+${body.bonus} RWT`)}  ${user}  milestone of ${days(body.milestone)}${short(body.transactionHash)}`;

/** One setting a line, as `rewards brand set` takes it. */
function settingsText(settings: Record<string, unknown>, style: Style): string {
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

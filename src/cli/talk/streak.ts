/** `rewards streak status|check-in|claim|settings`. */
import { personOf } from '../../client/person.ts';
import { type BrandDetail, showBrand } from '../../contract/control/brands.ts';
import { brandSpec } from '../../rules/brands/spec.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { keyHeader } from '../machine/read-input.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { parseExpectation } from '../service/expectation.ts';
import { demandBrand } from '../service/named-brand.ts';
import { serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import { checkInLine, claimLine, settingsText, statusText } from '../streak/view.ts';

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
